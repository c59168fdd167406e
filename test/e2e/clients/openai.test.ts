// The `openai` package through the proxy: its answers, its histories, its errors, and the proxy's headers in its hands.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI, { APIError } from 'openai';
import type { RunnableToolFunction } from 'openai/lib/RunnableFunction';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { Q } from '../../support/conversations.ts';
import { clean, requestFindings, saidIn, settled } from '../../support/exchanges.ts';
import { expected, testedEngine } from '../../support/tested-engine.ts';
import { all, bothWays } from './both-ways.ts';
import { answeringEngine, calling, callingEngine, repeatable, roomForCall } from './calling.ts';
import { documented } from './documented.ts';

const qwen3 = await answeringEngine();
const caller = await callingEngine();
const gemma3 = await testedEngine('gemma3');
const { skip } = qwen3;

const model = 'qwen3';
const short = { model, max_completion_tokens: 6, ...repeatable };
const raw = { model, max_tokens: 6, ...repeatable };

function client(baseURL: string): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'none' });
}

const cityParameters = {
  type: 'object',
  properties: { city: { type: 'string', enum: ['Oslo', 'Rome'] } },
  required: ['city'],
};
function cityTool(name: string): ChatCompletionTool {
  return { type: 'function', function: { name, description: 'About a city.', parameters: cityParameters } };
}
const tools = [cityTool('get_weather'), cityTool('get_time')];
const runnableWeather: RunnableToolFunction<{ city: string }> = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'About a city.',
    parameters: cityParameters,
    parse: (text) => JSON.parse(text) as { city: string },
    function: ({ city }) => `Rain in ${city}.`,
  },
};
const messagesQ = Q as ChatCompletionMessageParam[];

describe('openai: chat', { skip }, () => {
  const ways = bothWays(qwen3);

  it('gets the same answers as from the engine, whole, in pieces and of two choices', async () => {
    const whole = await ways.same((url) =>
      client(url).chat.completions.create({ ...short, messages: messagesQ }),
    );
    assert.equal(whole.usage?.prompt_tokens, 25);
    assert.equal(whole.choices[0]?.finish_reason, 'length');
    const two = await ways.same((url) =>
      client(url).chat.completions.create({ ...short, messages: messagesQ, n: 2 }),
    );
    assert.equal(two.choices.length, 2);
    const pieces = await ways.samePieces(async (url) => {
      const stream = await client(url).chat.completions.create({
        ...short,
        messages: messagesQ,
        stream: true,
        stream_options: { include_usage: true },
      });
      return all(stream);
    });
    const text = pieces.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    assert.equal(text, whole.choices[0].message.content);
    assert.equal(pieces.at(-1)?.usage?.prompt_tokens, 25);
    await ways.assertClean(3);
  });
});

describe('openai: a conversation', { skip }, () => {
  const ways = bothWays(qwen3);

  it('is no break, whichever way the package keeps the history', async () => {
    await ways.same(async (url) => {
      const { completions } = client(url).chat;
      const messages: ChatCompletionMessageParam[] = [
        { role: 'system', content: [{ type: 'text', text: 'You are terse.' }] },
        { role: 'user', content: [{ type: 'text', text: 'What is 2 + 2?' }] },
      ];
      const first = await completions.create({ ...short, messages });
      messages.push(first.choices[0]!.message, { role: 'user', content: 'And times 3?' });
      // The helper's final message has `parsed` and `refusal`, which the engine never sent.
      const second = await completions.stream({ ...short, messages }).finalMessage();
      messages.push(second, { role: 'user', content: [{ type: 'text', text: 'Minus 5?' }] });
      await completions.create({ ...short, messages });
      return messages;
    });
    await ways.assertClean(3);
  });
});

describe('openai: tools', { skip }, () => {
  const ways = bothWays(caller);
  const asking = {
    ...short,
    ...calling.preferences,
    max_completion_tokens: roomForCall,
    tools,
    tool_choice: calling.choice,
  };

  it('gets the same call in pieces as whole, and its result is no break', async () => {
    const messages = await ways.same(async (url) => {
      const { completions } = client(url).chat;
      const history: ChatCompletionMessageParam[] = [...messagesQ];
      for (const ask of [
        async () => (await completions.create({ ...asking, messages: history })).choices[0]!.message,
        () => completions.stream({ ...asking, messages: history }).finalMessage(),
      ]) {
        const message = await ask();
        const [call] = message.tool_calls ?? [];
        assert.equal(call?.type === 'function' && call.function.name, 'get_weather');
        assert.deepEqual(call?.type === 'function' && JSON.parse(call.function.arguments), { city: 'Oslo' });
        history.push(message, { role: 'tool', tool_call_id: call!.id, content: 'Rain.' });
      }
      const last = await completions.create({ ...short, tools, messages: history });
      return [...history, last];
    });
    assert.equal(messages.length, 7);
    await ways.assertClean(3);
  });

  it('runs them by itself, with no break', async () => {
    const before = await ways.proxied().metric('tokenweir_replies_total');
    const messages = await ways.same(async (url) => {
      const runner = client(url).chat.completions.runTools(
        { ...asking, messages: messagesQ, tools: [runnableWeather] },
        { maxChatCompletions: 2 },
      );
      await runner.done();
      return runner.messages;
    });
    const results = messages.filter(({ role }) => role === 'tool');
    assert.deepEqual(
      results.map(({ content }) => content),
      ['Rain in Oslo.', 'Rain in Oslo.'],
    );
    await ways.assertClean(before + 2);
  });
});

describe('openai: tools in another order', { skip }, () => {
  const ways = bothWays(qwen3);

  it('are a break that the client can read in the headers', async () => {
    const { completions } = client(ways.baseUrl()).chat;
    const first = await completions.create({ ...short, messages: messagesQ, tools });
    const messages = [...messagesQ, first.choices[0]!.message, ...messagesQ.slice(1)];
    const reordered = { ...short, messages, tools: tools.toReversed() };
    const { response } = await completions.create(reordered).withResponse();
    assert.equal(saidIn(response.headers).findings, 'prefix-break;tools-reordered');
    const found = await requestFindings(ways.proxied());
    assert.deepEqual(
      found.map(({ kind, cause }) => `${String(kind)};${String(cause)}`),
      ['prefix-break;tools-reordered'],
    );
  });
});

describe('openai: the raw route', { skip }, () => {
  const ways = bothWays(qwen3);

  it('gets the same text, whole and in pieces, and is told of the missing markers', async () => {
    const prompted = { ...raw, prompt: '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n' };
    const whole = await ways.same((url) => client(url).completions.create(prompted));
    const pieces = await ways.samePieces(async (url) =>
      all(await client(url).completions.create({ ...prompted, stream: true })),
    );
    assert.equal(pieces.map(({ choices }) => choices[0]?.text).join(''), whole.choices[0]?.text);
    await ways.assertClean(2);
    const { response } = await client(ways.baseUrl())
      .completions.create({ ...raw, prompt: ['Hi'] })
      .withResponse();
    assert.equal(saidIn(response.headers).findings, 'raw-prompt;plain-text');
  });
});

describe('openai: headers', { skip }, () => {
  const ways = bothWays(qwen3);

  it('are in reach with withResponse(), also of a stream, and the session is named per request', async () => {
    const { chat } = client(ways.baseUrl());
    const named = { headers: { 'tokenweir-session': 'conversation-1' } };
    const whole = await chat.completions.create({ ...short, messages: messagesQ }, named).withResponse();
    assert.deepEqual(saidIn(whole.response.headers), clean);
    const stream = await chat.completions
      .create({ ...short, messages: messagesQ, stream: true }, named)
      .withResponse();
    assert.deepEqual(saidIn(stream.response.headers), clean);
    assert.match(stream.response.headers.get('tokenweir-request-id') ?? '', /^\S+$/);
    await all(stream.data);
    await ways.assertClean(2);
    assert.equal(await ways.proxied().metric('tokenweir_session_lookups_total', { source: 'header' }), 1);
  });
});

describe('openai: a stream that is given up', { skip }, () => {
  const ways = bothWays(qwen3);

  it('ends the generation', async () => {
    const server = await qwen3.server();
    const from = server.log().length;
    const stream = await client(ways.baseUrl()).chat.completions.create({
      ...short,
      max_completion_tokens: 20_000,
      messages: messagesQ,
      stream: true,
    });
    for await (const piece of stream) if (piece.choices[0]?.delta.content) break;
    await expected.givenUp(server, from);
    await settled(ways.proxied(), 1);
    const outcomes = { outcome: 'client-aborted' };
    assert.equal(await ways.proxied().metric('tokenweir_replies_total', outcomes), 1);
  });
});

describe('openai: a rejection', { skip }, () => {
  const ways = bothWays(gemma3, { MODE: 'strict' });

  for (const stream of [false, true]) {
    it(`is an APIError with the code of the finding${stream ? ', before a stream begins' : ''}`, async () => {
      const asking = client(ways.baseUrl()).completions.create({
        model: 'gemma3',
        prompt: '<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n',
        max_tokens: 2,
        stream,
      });
      await assert.rejects(asking, (error) => {
        assert.ok(error instanceof APIError);
        assert.equal(error.status, 400);
        assert.equal(error.code, 'double_bos');
        assert.equal(error.type, 'invalid_request_error');
        assert.equal(error.param, 'prompt');
        assert.equal(error.message, documented('openai').rejection);
        assert.equal((error.headers as Headers).get('tokenweir-action'), 'reject');
        return true;
      });
    });
  }
});
