// The `@anthropic-ai/sdk` package through the proxy: its answers, its histories with tools, its errors, and the proxy's
// headers in its hands.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { assertHas, clean, saidIn, settled } from '../../support/exchanges.ts';
import { expected } from '../../support/tested-engine.ts';
import { all, bothWays } from './both-ways.ts';
import { calling, roomForCall, steadyCallingEngine, steadyEngine } from './calling.ts';

// The route knows no seed, no biases and no cache option.
const qwen3 = await steadyEngine();
const caller = await steadyCallingEngine();
const { skip } = qwen3;

const short = { model: 'qwen3', max_tokens: 6, system: 'You are terse.' };
const question: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is 2 + 2?' }];

/** Its base URL ends before `/v1`. */
function client(baseUrl: string): Anthropic {
  return new Anthropic({ baseURL: baseUrl.replace(/\/v1$/, ''), apiKey: 'none' });
}

describe('@anthropic-ai/sdk: messages', { skip }, () => {
  const ways = bothWays(qwen3);

  it('gets the same answers as from the engine, whole and in pieces', async () => {
    const whole = await ways.same((url) => client(url).messages.create({ ...short, messages: question }));
    assert.deepEqual([whole.usage.input_tokens, whole.stop_reason], [25, 'max_tokens']);
    const final = await ways.same((url) =>
      client(url)
        .messages.stream({ ...short, messages: question })
        .finalMessage(),
    );
    assert.deepEqual(final.content, whole.content);
    const events = await ways.samePieces(async (url) =>
      all(await client(url).messages.create({ ...short, messages: question, stream: true })),
    );
    assert.equal(events.at(-1)?.type, 'message_stop');
    await ways.assertClean(3);
  });

  it('has its tokens counted by the engine', async () => {
    const { input_tokens: tokens } = await ways.same((url) =>
      client(url).messages.countTokens({ model: 'qwen3', system: short.system, messages: question }),
    );
    assert.equal(tokens, 25);
    await ways.assertClean(3);
  });
});

describe('@anthropic-ai/sdk: a conversation', { skip }, () => {
  const ways = bothWays(qwen3);

  it('is no break, with a mark for a hosted cache that moves along', async () => {
    await ways.same(async (url) => {
      const { messages } = client(url);
      const marked = (text: string): Anthropic.MessageParam => ({
        role: 'user',
        content: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }],
      });
      const first = await messages.create({ ...short, messages: [marked('What is 2 + 2?')] });
      const history: Anthropic.MessageParam[] = [...question, { role: 'assistant', content: first.content }];
      const second = await messages
        .stream({ ...short, messages: [...history, marked('And times 3?')] })
        .finalMessage();
      history.push({ role: 'user', content: 'And times 3?' }, { role: 'assistant', content: second.content });
      return messages.create({ ...short, messages: [...history, marked('Minus 5?')] });
    });
    await ways.assertClean(3);
  });
});

const tools: Anthropic.Tool[] = [
  {
    name: 'get_weather',
    description: 'About a city.',
    input_schema: {
      type: 'object',
      properties: { city: { type: 'string', enum: ['Oslo', 'Rome'] } },
      required: ['city'],
    },
  },
];

describe('@anthropic-ai/sdk: tools', { skip }, () => {
  const ways = bothWays(caller);

  it('gets the same call in pieces as whole, and its result is no break', async () => {
    const asking = { ...short, max_tokens: roomForCall, tools, tool_choice: { type: calling.anyTool } };
    const history = await ways.same(async (url) => {
      const { messages } = client(url);
      const history: Anthropic.MessageParam[] = [...question];
      for (const ask of [
        () => messages.create({ ...asking, messages: history }),
        () => messages.stream({ ...asking, messages: history }).finalMessage(),
      ]) {
        const { content, stop_reason: reason } = await ask();
        const call = content.find((block) => block.type === 'tool_use');
        assert.deepEqual([call?.name, call?.input, reason], ['get_weather', { city: 'Oslo' }, 'tool_use']);
        const result = { type: 'tool_result' as const, tool_use_id: call!.id, content: 'Rain.' };
        history.push({ role: 'assistant', content }, { role: 'user', content: [result] });
      }
      await messages.create({ ...asking, messages: history });
      return history;
    });
    assert.equal(history.length, 5);
    await ways.assertClean(3);
  });
});

describe('@anthropic-ai/sdk: headers and errors', { skip }, () => {
  const ways = bothWays(qwen3);

  it('has the proxy\u2019s headers in reach with withResponse(), also of a stream', async () => {
    const { messages } = client(ways.baseUrl());
    const whole = await messages.create({ ...short, messages: question }).withResponse();
    assert.deepEqual(saidIn(whole.response.headers), clean);
    const stream = await messages.create({ ...short, messages: question, stream: true }).withResponse();
    assert.deepEqual(saidIn(stream.response.headers), clean);
    await all(stream.data);
    await ways.assertClean(2);
  });

  it('gives the engine\u2019s own error as it came', async () => {
    const asking = client(ways.baseUrl()).messages.create({
      ...short,
      messages: [{ role: 'user' } as never],
    });
    await assert.rejects(asking, (error) => {
      assert.ok(error instanceof APIError);
      assert.equal(error.status, 400);
      assertHas((error.error as { error: Record<string, unknown> }).error, expected.withoutContent.error);
      return true;
    });
  });

  it('ends the generation of a stream that is given up', async () => {
    const server = await qwen3.server();
    const from = server.log().length;
    const stream = client(ways.baseUrl()).messages.stream({
      ...short,
      max_tokens: 10_000,
      messages: question,
    });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    await expected.givenUp(server, from);
    await settled(ways.proxied(), 4);
    assert.equal(await ways.proxied().metric('tokenweir_replies_total', { outcome: 'client-aborted' }), 1);
  });
});

describe('@anthropic-ai/sdk: a rejection', { skip }, () => {
  // A route of the engine that can't be inspected: held back because the operator asks for that.
  const ways = bothWays(qwen3, {
    MODE: 'strict',
    INSPECTION_ON_UNKNOWN: 'reject',
    LIMITS_REQUEST_BYTES: '1KiB',
  });

  it('is an APIError in the form that the package reads', async () => {
    const long = [{ role: 'user' as const, content: 'many words '.repeat(1000) }];
    const asking = new Anthropic({
      baseURL: ways.baseUrl().replace(/\/v1$/, ''),
      apiKey: 'none',
      maxRetries: 0,
    });
    await assert.rejects(asking.messages.create({ ...short, messages: long }), (error) => {
      assert.ok(error instanceof APIError);
      assert.equal(error.status, 503);
      const { type, error: problem } = error.error as { type: string; error: { type: string; code: string } };
      assert.deepEqual([type, problem.type, problem.code], ['error', 'api_error', 'inspection_unknown']);
      assert.equal((error.headers as Headers).get('tokenweir-action'), 'reject');
      return true;
    });
  });
});
