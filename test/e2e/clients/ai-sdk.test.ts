// The `ai` package with its OpenAI-compatible provider through the proxy: its answers, its histories, its errors.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
  type ModelMessage,
} from 'ai';
import { z } from 'zod';
import { assertHas, clean, requestFindings, saidIn, settled } from '../../support/exchanges.ts';
import { expected, testedEngine } from '../../support/tested-engine.ts';
import { bothWays } from './both-ways.ts';
import { answeringEngine, calling, callingEngine, repeatable, roomForCall } from './calling.ts';
import { documented } from './documented.ts';

const qwen3 = await answeringEngine();
const caller = await callingEngine();
const gemma3 = await testedEngine('gemma3');
const { skip } = qwen3;

/** The provider's name is the key of what `providerOptions` adds to the body as it is. */
const name = 'engine';
const { temperature, seed, ...extra } = repeatable;
const short = { temperature, seed, maxOutputTokens: 6, maxRetries: 0, providerOptions: { [name]: extra } };
const { presence_penalty: presencePenalty, ...preferences } = calling.preferences;
const inclined = {
  ...short,
  ...(presencePenalty !== undefined && { presencePenalty }),
  maxOutputTokens: roomForCall,
  providerOptions: { [name]: { ...extra, ...preferences } },
};
const question = { system: 'You are terse.', prompt: 'What is 2 + 2?' };

function provider(baseURL: string): ReturnType<typeof createOpenAICompatible> {
  return createOpenAICompatible({ name, baseURL, includeUsage: true });
}
function chatModel(baseURL: string): LanguageModel {
  return provider(baseURL)('qwen3');
}

const city = { description: 'About a city.', inputSchema: z.object({ city: z.enum(['Oslo', 'Rome']) }) };
const tools = {
  get_weather: tool({ ...city, execute: ({ city: where }) => `Rain in ${where}.` }),
  get_time: tool({ ...city, execute: () => 'Noon.' }),
};

describe('ai: text', { skip }, () => {
  const ways = bothWays(qwen3);

  it('is the same as from the engine, generated and streamed', async () => {
    const whole = await ways.same(async (url) => {
      const { text, finishReason, usage } = await generateText({
        model: chatModel(url),
        ...short,
        ...question,
      });
      return { text, finishReason, usage };
    });
    assert.equal(whole.finishReason, 'length');
    assert.equal(whole.usage.inputTokens, 25);
    const streamed = await ways.same(async (url) => {
      const { text, finishReason, usage } = streamText({ model: chatModel(url), ...short, ...question });
      return { text: await text, finishReason: await finishReason, usage: await usage };
    });
    assert.deepEqual({ ...streamed, usage: {} }, { ...whole, usage: {} });
    assert.equal(streamed.usage.inputTokens, 25);
    await ways.assertClean(2);
  });
});

describe('ai: a conversation', { skip }, () => {
  const ways = bothWays(qwen3);

  it('is no break when the response messages are appended', async () => {
    await ways.same(async (url) => {
      const messages: ModelMessage[] = [
        { role: 'user', content: [{ type: 'text', text: 'What is 2 + 2?' }] },
      ];
      const system = 'You are terse.';
      const first = await generateText({ model: chatModel(url), ...short, system, messages });
      messages.push(...first.response.messages, { role: 'user', content: 'And times 3?' });
      const second = streamText({ model: chatModel(url), ...short, system, messages });
      messages.push(...(await second.response).messages, { role: 'user', content: 'Minus 5?' });
      await generateText({ model: chatModel(url), ...short, system, messages });
      return messages;
    });
    await ways.assertClean(3);
  });
});

describe('ai: tools', { skip }, () => {
  const ways = bothWays(caller);

  it('are called the same, step by step, generated and streamed, with no break', async () => {
    const asked = { tools, toolChoice: calling.choice, stopWhen: stepCountIs(2) } as const;
    const calls = await ways.same(async (url) => {
      const generated = await generateText({ model: chatModel(url), ...inclined, ...question, ...asked });
      const messages: ModelMessage[] = [
        { role: 'user', content: question.prompt },
        ...generated.response.messages,
        { role: 'user', content: 'And now?' },
      ];
      const system = question.system;
      const streamed = streamText({ model: chatModel(url), ...inclined, system, messages, ...asked });
      const steps = [...generated.steps, ...(await streamed.steps)];
      return steps.map(({ toolCalls, toolResults, finishReason, usage }) => ({
        toolCalls,
        toolResults,
        finishReason,
        usage,
      }));
    });
    assert.equal(calls.length, 4);
    for (const { toolCalls, toolResults, finishReason } of calls) {
      assert.deepEqual(
        toolCalls.map(({ toolName, input }) => [toolName, input]),
        [['get_weather', { city: 'Oslo' }]],
      );
      assert.deepEqual(
        toolResults.map(({ output }) => output),
        ['Rain in Oslo.'],
      );
      assert.equal(finishReason, 'tool-calls');
    }
    await ways.assertClean(4);
  });
});

describe('ai: reasoning', { skip }, () => {
  const ways = bothWays(qwen3);

  it("is sent back, holds within a tool loop, and what the template drops of it later is not the client's", async () => {
    const messages: ModelMessage[] = [{ role: 'user', content: 'Is it raining?' }];
    const findings: (string | undefined)[] = [];
    const ask = async (...more: ModelMessage[]): Promise<void> => {
      messages.push(...more);
      const { response } = await generateText({
        model: chatModel(ways.baseUrl()),
        ...short,
        tools,
        messages,
      });
      findings.push(response.headers?.['tokenweir-findings']);
    };
    const call = { toolCallId: 'call-1', toolName: 'get_weather' };
    await ask();
    await ask(
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'I should look.' },
          { type: 'tool-call', ...call, input: { city: 'Oslo' } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value: 'Rain.' } }] },
    );
    await ask(
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'So it is.' },
          { type: 'text', text: 'Yes.' },
        ],
      },
      { role: 'user', content: 'And tomorrow?' },
    );
    assert.deepEqual(findings, [
      undefined,
      undefined,
      'content-lost;reasoning, prefix-break;reasoning-dropped',
    ]);
    const found = await requestFindings(ways.proxied());
    assertHas(
      found.find(({ kind }) => kind === 'prefix-break'),
      { kind: 'prefix-break', severity: 'info', culprit: 'template' },
    );
  });
});

describe('ai: the raw route', { skip }, () => {
  const ways = bothWays(qwen3);

  it("gets the same text, and its own transcript's lack of markers is said", async () => {
    let headers: Record<string, string> | undefined;
    await ways.same(async (url) => {
      const model = provider(url).completionModel('qwen3');
      const { text, usage, response } = await generateText({ model, ...short, ...question });
      headers = response.headers;
      return { text, usage };
    });
    assert.equal(saidIn(new Headers(headers)).findings, 'raw-prompt;plain-text');
    await settled(ways.proxied(), 1);
    assert.equal(await ways.proxied().metric('tokenweir_count_checks_total', { result: 'match' }), 1);
  });
});

describe('ai: headers', { skip }, () => {
  const ways = bothWays(qwen3);

  it('are in the response, and the session is named per call', async () => {
    const named = { ...short, ...question, headers: { 'tokenweir-session': 'conversation-1' } };
    const whole = await generateText({ model: chatModel(ways.baseUrl()), ...named });
    assert.deepEqual(saidIn(new Headers(whole.response.headers)), clean);
    const streamed = streamText({ model: chatModel(ways.baseUrl()), ...named });
    assert.deepEqual(saidIn(new Headers((await streamed.response).headers)), clean);
    await ways.assertClean(2);
    assert.equal(await ways.proxied().metric('tokenweir_session_lookups_total', { source: 'header' }), 1);
  });
});

describe('ai: a stream that is given up', { skip }, () => {
  const ways = bothWays(qwen3);

  it('ends the generation', async () => {
    const server = await qwen3.server();
    const from = server.log().length;
    const leaving = new AbortController();
    const { fullStream } = streamText({
      model: chatModel(ways.baseUrl()),
      ...short,
      ...question,
      maxOutputTokens: 20_000,
      abortSignal: leaving.signal,
    });
    let last: string | undefined;
    for await (const part of fullStream) {
      if (part.type === 'text-delta') leaving.abort();
      last = part.type;
    }
    assert.equal(last, 'abort');
    await expected.givenUp(server, from);
    await settled(ways.proxied(), 1);
    const outcome = { outcome: 'client-aborted' };
    assert.equal(await ways.proxied().metric('tokenweir_replies_total', outcome), 1);
  });
});

describe('ai: a rejection', { skip }, () => {
  const ways = bothWays(gemma3, { MODE: 'strict' });
  const doubled = { system: '<bos>You are terse.', prompt: 'What is 2 + 2?', maxRetries: 0 };

  function assertRejection(error: unknown): true {
    assert.ok(APICallError.isInstance(error));
    assert.equal(error.statusCode, 400);
    assert.equal(error.isRetryable, false);
    assert.equal(error.message, documented('ai').rejection);
    const { error: body } = JSON.parse(error.responseBody ?? '') as { error: { code: string } };
    assert.equal(body.code, 'double_bos');
    assert.equal(error.responseHeaders?.['tokenweir-action'], 'reject');
    return true;
  }

  it('is an APICallError that is not tried again', async () => {
    const model = provider(ways.baseUrl()).completionModel('gemma3');
    await assert.rejects(generateText({ model, ...doubled }), assertRejection);
  });

  it('is the error part of a stream', async () => {
    const model = provider(ways.baseUrl()).completionModel('gemma3');
    const errors: unknown[] = [];
    const { fullStream } = streamText({ model, ...doubled, onError: () => undefined });
    for await (const part of fullStream) if (part.type === 'error') errors.push(part.error);
    assert.equal(errors.length, 1);
    assertRejection(errors[0]);
  });
});
