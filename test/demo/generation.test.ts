// Replies of the demo engine over real sockets: counts, shapes, streams, prefix reuse.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cannedText } from '../../src/demo/canned-reply.ts';
import { loadDemoTokenizer } from '../../src/demo/tokenizer.ts';
import { useDemoEngine, type JsonObject } from './running-engine.ts';

const tokenizer = loadDemoTokenizer();
const ids = (text: string): number[] => tokenizer.tokenize(text, { addSpecial: false, parseSpecial: true });
const replyTokens = ids(cannedText).length + 1;
const messages = [
  { role: 'system', content: 'You are terse.' },
  { role: 'user', content: 'What is 2 + 2?' },
];
const chatText =
  '<|turn|>system\nYou are terse.<|end|>\n<|turn|>user\nWhat is 2 + 2?<|end|>\n<|turn|>assistant\n';
const chatTokens = 1 + ids(chatText).length;

interface Timings {
  cache_n: number;
  prompt_n: number;
}
interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
}
interface Choice {
  index: number;
  finish_reason: string | null;
  text?: string;
  message?: { content: string };
  delta?: { role?: string; content?: string | null };
}
interface OpenAiReply {
  choices: Choice[];
  model: string;
  system_fingerprint: string;
  usage?: Usage;
  timings?: Timings;
}
interface NativeReply {
  index: number;
  content: string;
  tokens: number[];
  prompt: string;
  stop: boolean;
  stop_type: string;
  tokens_evaluated: number;
  tokens_predicted: number;
  tokens_cached: number;
  timings: Timings;
}
const openAi = (value: unknown): OpenAiReply => value as OpenAiReply;
const native = (value: unknown): NativeReply => value as NativeReply;

describe('a whole reply of the demo engine', () => {
  const engine = useDemoEngine();

  it('on chat routes counts the prompt with one BOS and says that no model ran', async () => {
    for (const path of ['/chat/completions', '/v1/chat/completions']) {
      const reply = openAi(await engine.ask(path, { messages }));
      assert.equal(reply.choices[0]?.message?.content, cannedText);
      assert.equal(reply.choices[0].finish_reason, 'stop');
      assert.equal(reply.usage?.prompt_tokens, chatTokens);
      assert.equal(reply.usage.completion_tokens, replyTokens);
      assert.equal(reply.model, 'tokenweir-demo');
      assert.match(reply.system_fingerprint, /^demo-/);
    }
  });

  it('evaluates what the oracles tell: render, then tokenize with add_special', async () => {
    const { prompt } = await engine.ask('/apply-template', { messages });
    const { tokens } = await engine.ask('/tokenize', { content: prompt, add_special: true });
    const reply = openAi(await engine.ask('/v1/chat/completions', { messages }));
    assert.equal(reply.usage?.prompt_tokens, (tokens as number[]).length);
    const raw = native(await engine.ask('/completion', { prompt: tokens }));
    assert.equal(raw.tokens_evaluated, reply.usage.prompt_tokens);
    assert.equal(raw.prompt, `<bos>${String(prompt)}`);
  });

  it('has two BOS if the client writes one into a raw prompt', async () => {
    const once = native(await engine.ask('/completion', { prompt: chatText, n_predict: 1 }));
    const twice = native(await engine.ask('/completion', { prompt: `<bos>${chatText}`, n_predict: 1 }));
    assert.equal(twice.tokens_evaluated, once.tokens_evaluated + 1);
    assert.ok(twice.prompt.startsWith('<bos><bos><|turn|>'));
  });

  it('ends with length at the limit, whichever field sets it, the first one there winning', async () => {
    for (const limit of [{ max_tokens: 3 }, { n_predict: null, max_completion_tokens: 3, max_tokens: 9 }]) {
      const reply = openAi(await engine.ask('/v1/completions', { prompt: 'a', ...limit }));
      assert.equal(reply.choices[0]?.finish_reason, 'length');
      assert.equal(reply.usage?.completion_tokens, 3);
    }
    const none = native(await engine.ask('/completion', { prompt: 'a', n_predict: 0 }));
    assert.equal(none.tokens_predicted, 1);
  });

  it('takes every form of prompt', async () => {
    const count = async (prompt: unknown): Promise<unknown> => {
      const reply = await engine.ask('/completion', { prompt, n_predict: 1 });
      return Array.isArray(reply)
        ? reply.map((one) => native(one).tokens_evaluated)
        : native(reply).tokens_evaluated;
    };
    assert.equal(await count('a'), 2);
    assert.equal(await count([64]), 1);
    assert.equal(await count(['a', 64, 'b']), 4);
    assert.equal(await count([64, 'a']), 2);
    assert.equal(await count({ prompt_string: 'a' }), 2);
    assert.deepEqual(await count(['a', 'ab c']), [2, 1 + ids('ab c').length]);
    assert.deepEqual(await count([[64], 'a', { prompt_string: 'a' }]), [1, 2, 2]);
  });

  it('keeps the invariant cache_n + prompt_n = tokens_evaluated, and the slot all but the last token', async () => {
    const reply = native(
      await engine.ask('/completion', { prompt: 'the old mill', n_predict: 5, return_tokens: true }),
    );
    assert.equal(reply.timings.cache_n + reply.timings.prompt_n, reply.tokens_evaluated);
    assert.equal(reply.tokens_cached, reply.tokens_evaluated + 4);
    assert.deepEqual(reply.tokens, ids(cannedText).slice(0, 5));
  });

  it('merges choices under the usage of the first', async () => {
    const chat = openAi(await engine.ask('/v1/chat/completions', { messages, n: 2, max_tokens: 2 }));
    assert.deepEqual(
      chat.choices.map(({ index }) => index),
      [0, 1],
    );
    assert.equal(chat.usage?.completion_tokens, 2);
    const two = openAi(await engine.ask('/v1/completions', { prompt: ['a', 'ab c'], max_tokens: 2 }));
    assert.equal(two.choices.length, 2);
    assert.equal(two.usage?.prompt_tokens, 2);
  });

  it('is refused with what was wrong', async () => {
    const refused = async (body: JsonObject): Promise<JsonObject> => {
      const response = await engine.post('/completion', body);
      assert.equal(response.status, 400);
      return ((await response.json()) as { error: JsonObject }).error;
    };
    assert.match(String((await refused({}))['message']), /key 'prompt' not found/);
    assert.match(String((await refused({ prompt: [] }))['message']), /must not be empty/);
    assert.match(String((await refused({ prompt: [[]] }))['message']), /must not be empty/);
    assert.match(String((await refused({ prompt: true }))['message']), /"prompt" elements must be/);
    assert.match(String((await refused({ prompt: [99999] }))['message']), /invalid tokens/);
    assert.match(
      String((await refused({ prompt: 'a', n: 5 }))['message']),
      /Field 'n': .*1 <= value <= 4, but got 5/,
    );
    assert.match(
      String((await refused({ prompt: 'a', n_predict: '3' }))['message']),
      /Field 'n_predict': .*is string/,
    );
    assert.match(String((await refused({ prompt: 'a', stop: [5] }))['message']), /Field 'stop': .*is number/);
    const tooLong = await refused({ prompt: Array.from({ length: 8192 }, () => 64) });
    assert.deepEqual(tooLong, {
      code: 400,
      message: 'request (8192 tokens) exceeds the available context size (8192 tokens), try increasing it',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 8192,
      n_ctx: 8192,
    });
  });
});

describe('a streamed reply of the demo engine', () => {
  const engine = useDemoEngine();

  it('on chat routes: role, text, finish with timings, [DONE]', async () => {
    const events = await engine.stream('/v1/chat/completions', { messages });
    assert.equal(events.pop(), '[DONE]');
    const chunks = events.map(openAi);
    assert.deepEqual(chunks[0]?.choices[0]?.delta, { role: 'assistant', content: null });
    assert.equal(chunks.map(({ choices }) => choices[0]?.delta?.content ?? '').join(''), cannedText);
    const last = chunks.at(-1);
    assert.equal(last?.choices[0]?.finish_reason, 'stop');
    assert.equal(last.timings!.cache_n + last.timings!.prompt_n, chatTokens);
    assert.ok(chunks.every(({ usage }) => usage === undefined));
  });

  it('on chat routes moves the timings to a usage chunk if one is asked for', async () => {
    const body = { messages, stream_options: { include_usage: true } };
    const chunks = (await engine.stream('/v1/chat/completions', body)).slice(0, -1).map(openAi);
    const last = chunks.at(-1);
    assert.deepEqual(last?.choices, []);
    assert.equal(last.usage?.prompt_tokens, chatTokens);
    assert.ok(last.timings);
    assert.equal(chunks.at(-2)?.timings, undefined);
  });

  it('on /v1/completions: usage and timings for each prompt, then [DONE]', async () => {
    const events = await engine.stream('/v1/completions', { prompt: ['a', 'ab c'], max_tokens: 2 });
    assert.equal(events.pop(), '[DONE]');
    const finals = events.map(openAi).filter(({ usage }) => usage !== undefined);
    const counts = new Map(finals.map(({ choices, usage }) => [choices[0]?.index, usage?.prompt_tokens]));
    assert.deepEqual([...counts].toSorted(), [
      [0, 2],
      [1, 1 + ids('ab c').length],
    ]);
    assert.ok(finals.every(({ choices, timings }) => choices[0]?.finish_reason === 'length' && timings));
  });

  it('on the native routes: one event for each token, the final object, no [DONE]', async () => {
    for (const path of ['/completion', '/completions']) {
      const events = (await engine.stream(path, { prompt: 'a', n_predict: 3 })).map(native);
      assert.equal(events.length, 4);
      assert.deepEqual(
        events.map(({ stop }) => stop),
        [false, false, false, true],
      );
      assert.equal(events[3]?.stop_type, 'limit');
      assert.equal(events[3].tokens_evaluated, 2);
      assert.ok(cannedText.startsWith(events.map(({ content }) => content).join('')));
    }
  });

  it('is refused like a whole one before anything is sent', async () => {
    const response = await engine.post('/v1/completions', { prompt: [], stream: true });
    assert.equal(response.status, 400);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  });
});

describe('the prefix reuse of the demo engine', () => {
  const engine = useDemoEngine();
  const cached = async (body: JsonObject): Promise<number | undefined> =>
    openAi(await engine.ask('/v1/chat/completions', body)).usage?.prompt_tokens_details.cached_tokens;

  it('keeps prompt and answer of a growing chat, all but one token of a repeated one, and less after a change', async () => {
    assert.equal(await cached({ messages }), 0);
    const answer = { role: 'assistant', content: cannedText };
    const grown = [...messages, answer, { role: 'user', content: 'And times 3?' }];
    // The answer's end-of-turn token was sampled last, so it is not in the slot.
    assert.equal(await cached({ messages: grown }), chatTokens + replyTokens - 1);
    const whole = openAi(await engine.ask('/v1/chat/completions', { messages: grown }));
    assert.equal(whole.usage?.prompt_tokens_details.cached_tokens, whole.usage!.prompt_tokens - 1);
    const changed = [{ role: 'system', content: 'You are terse!' }, ...grown.slice(1)];
    const kept = 1 + ids('<|turn|>system\nYou are terse').length;
    assert.equal(await cached({ messages: changed, id_slot: 0 }), kept);
  });
});
