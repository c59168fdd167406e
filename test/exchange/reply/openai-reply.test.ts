// What llama-server really answered on the OpenAI routes, and what an engine may answer beside that.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createOpenAiReplyReader } from '../../../src/exchange/reply/openai-reply.ts';
import type { ReplyReader } from '../../../src/exchange/reply/reply.ts';
import {
  answered,
  counts,
  json,
  readEveryWay,
  readReply,
  refused,
  streamOf,
  withoutRates,
} from './replies.ts';

const chat = (retainedBytes = 1_000_000): ReplyReader =>
  createOpenAiReplyReader({ shape: 'chat', retainedBytes });
const text = (): ReplyReader => createOpenAiReplyReader({ shape: 'completion', retainedBytes: 1_000_000 });

const cutOff = { ...answered, finishReason: 'length' };
const question = { ...cutOff, ...counts(25, 24, 6) };
const short = { ...cutOff, ...counts(3, 2, 6) };
const toolCall = { ...cutOff, hasAnswerText: false, hasToolCalls: true, toolArgumentsValid: false };

/** Recording → its choices. */
const recorded: Record<string, object[]> = {
  chat: [{ ...cutOff, ...counts(25, 0, 6) }],
  'chat-stream': [question],
  'chat-usage': [question],
  'chat-usage-stream': [question],
  'chat-again': [{ ...cutOff, ...counts(25, 24, 2) }],
  'chat-again-stream': [{ ...cutOff, ...counts(25, 24, 2) }],
  'chat-n2': [question, { ...cutOff, index: 1 }],
  'chat-n2-stream': [question, { ...question, index: 1 }],
  'chat-n2-usage': [question, { ...cutOff, index: 1 }],
  'chat-n2-usage-stream': [question, { ...question, index: 1 }],
  'chat-tools': [{ ...toolCall, ...counts(161, 0, 128) }],
  'chat-tools-stream': [{ ...toolCall, ...counts(161, 160, 128) }],
  'chat-tools-cut': [{ ...toolCall, ...counts(161, 160, 20) }],
  'chat-tools-cut-stream': [{ ...toolCall, ...counts(161, 160, 20) }],
  'chat-thinking': [{ ...answered, finishReason: 'stop', hasReasoning: true, ...counts(25, 24, 23) }],
  'chat-thinking-stream': [{ ...answered, finishReason: 'stop', hasReasoning: true, ...counts(25, 24, 23) }],
  'chat-thinking-cut': [{ ...cutOff, hasAnswerText: false, hasReasoning: true, ...counts(25, 24, 9) }],
  'chat-thinking-cut-stream': [{ ...cutOff, hasAnswerText: false, hasReasoning: true, ...counts(25, 24, 9) }],
  'chat-verbose': [question],
  'chat-verbose-stream': [question],
  completion: [{ ...cutOff, ...counts(3, 0, 6) }],
  'completion-stream': [short],
  'completion-stop': [{ ...answered, finishReason: 'stop', ...counts(3, 2, 2) }],
  'completion-stop-stream': [{ ...answered, finishReason: 'stop', ...counts(3, 2, 2) }],
  'completion-n2': [short, { ...cutOff, index: 1 }],
  'completion-n2-stream': [short, { ...short, index: 1 }],
  // In one piece, the usage is that of prompt 0 only.
  'completion-two': [
    { ...cutOff, ...counts(1, 0, 6) },
    { ...cutOff, index: 1 },
  ],
  'completion-two-stream': [
    { ...cutOff, ...counts(1, 0, 6) },
    { ...cutOff, ...counts(5, 3, 6), index: 1 },
  ],
  'completion-two-n2': [
    { ...cutOff, ...counts(1, 0, 6) },
    ...[1, 2, 3].map((index) => ({ ...cutOff, index })),
  ],
  'completion-two-n2-stream': [
    ...[0, 1].map((index) => ({ ...cutOff, ...counts(1, 0, 6), index })),
    ...[2, 3].map((index) => ({ ...cutOff, ...counts(5, 4, 6), index })),
  ],
};

describe('createOpenAiReplyReader: recorded replies of llama-server, every chunking', () => {
  for (const [name, choices] of Object.entries(recorded)) {
    it(name, () => {
      const reply = readEveryWay(name.startsWith('chat') ? chat : text, name);
      assert.deepEqual(withoutRates(reply.choices), choices);
      assert.equal(reply.started, true);
      assert.equal(reply.complete, true);
      assert.equal(reply.unreadReason, undefined);
    });
  }

  it('errors', () => {
    for (const name of ['chat-error', 'chat-error-stream']) {
      assert.deepEqual(readEveryWay(chat, name), refused);
    }
  });
});

const delta = (fields: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const progress = {
  ...delta({ role: 'assistant', content: null }),
  prompt_progress: { total: 9, cache: 4, processed: 4 },
};

describe('createOpenAiReplyReader: streams', () => {
  it('has started with the first delta, not with progress', () => {
    const reader = chat();
    reader.start(200, 'text/event-stream', '');
    reader.push(streamOf(progress, 'null'));
    assert.equal(reader.started, false);
    reader.push(streamOf(delta({ role: 'assistant', content: null })));
    assert.equal(reader.started, true);
  });

  it('knows the counts from progress if nothing later tells them', () => {
    const reply = readReply(chat(), [streamOf(progress, delta({ content: 'a' }))], { cut: true });
    assert.deepEqual(reply.choices, [{ ...answered, promptTokens: 9, cachedTokens: 4 }]);
    assert.equal(reply.complete, false);
  });

  it('is complete with [DONE] only, also if the client leaves after it', () => {
    const events = [delta({ content: 'a' }), delta({}, 'stop')];
    assert.equal(readReply(chat(), [streamOf(...events)]).complete, false);
    assert.equal(readReply(chat(), [streamOf(...events, '[DONE]')], { cut: true }).complete, true);
  });

  it('reports an error in the middle and keeps what was said before', () => {
    const error = { error: { code: 500, message: 'lost', type: 'server_error' } };
    const reply = readReply(chat(), [streamOf(delta({ content: 'a' }), error)]);
    assert.deepEqual(reply, {
      status: 200,
      started: true,
      complete: false,
      choices: [answered],
      unreadReason: 'engine-error',
    });
  });

  it('joins the arguments of each tool call', () => {
    const call = (index: number, text: string): object =>
      delta({ tool_calls: [{ index, function: { arguments: text } }] });
    const valid = [call(0, '{"a"'), call(1, '{}'), call(0, ':1}'), delta({}, 'tool_calls'), '[DONE]'];
    const [choice] = readReply(chat(), [streamOf(...valid)]).choices;
    assert.equal(choice?.toolArgumentsValid, true);
    assert.equal(choice.finishReason, 'tool-calls');
    const open = [call(0, '{"a"'), call(1, '{}'), delta({}, 'length'), '[DONE]'];
    assert.equal(readReply(chat(), [streamOf(...open)]).choices[0]?.toolArgumentsValid, false);
  });

  it('says nothing about tool arguments that did not fit', () => {
    const call = delta({ tool_calls: [{ index: 0, function: { arguments: '"'.padEnd(400, 'x') } }] });
    const [choice] = readReply(chat(1000), [streamOf(call, call, call, '[DONE]')]).choices;
    assert.equal(choice?.hasToolCalls, true);
    assert.equal(choice.toolArgumentsValid, undefined);
  });

  it('says nothing about tool arguments of which a part was dropped', () => {
    const call = (text: string): object =>
      delta({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    const large = call(`"${'x'.repeat(5000)}"`);
    const [choice] = readReply(chat(1000), [streamOf(call('{"a":'), large, call('}'), '[DONE]')]).choices;
    assert.equal(choice?.hasToolCalls, true);
    assert.equal(choice.toolArgumentsValid, undefined);
  });

  it('reads on after an event that is too large', () => {
    const large = delta({ content: 'x'.repeat(5000) });
    const last = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } };
    const told = readReply(chat(1000), [streamOf(large, delta({}, 'stop'), last, '[DONE]')]);
    assert.equal(told.choices[0]?.promptTokens, 7);
    assert.equal(told.unreadReason, undefined);
    assert.equal(
      readReply(chat(1000), [streamOf(large, delta({}, 'stop'), '[DONE]')]).unreadReason,
      'too-large',
    );
  });

  it("reads white space alone as no answer, and vLLM's `reasoning`", () => {
    const [choice] = readReply(chat(), [
      streamOf(delta({ reasoning: 'Hm' }), delta({ content: '\n\n' })),
    ]).choices;
    assert.equal(choice?.hasReasoning, true);
    assert.equal(choice.hasAnswerText, false);
  });

  it('says so if there was nothing it knows', () => {
    assert.equal(readReply(chat(), [streamOf('hello', { hello: 1 })]).unreadReason, 'unexpected-shape');
  });
});

describe('createOpenAiReplyReader: replies in one piece', () => {
  const body = (content: string): Buffer =>
    Buffer.from(
      JSON.stringify({
        choices: [{ index: 0, message: { content }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } },
        timings: { cache_n: 3, prompt_n: 4, prompt_per_second: 100 },
      }),
    );

  it('finds the counts at the end of one that is too large', () => {
    const content = '"}],"usage":{"prompt_tokens":1},"x":[{'.repeat(5000);
    const reply = readReply(chat(1000), [body(content)], json);
    assert.deepEqual(reply.choices, [{ ...answered, ...counts(7, 3, 2), prefillTokensPerSecond: 100 }]);
    assert.equal(reply.started, true);
    assert.equal(reply.unreadReason, undefined);
  });

  it('gives up where the end does not tell', () => {
    const reply = readReply(chat(1000), [Buffer.from(`{"usage":{},"x":"${'x'.repeat(100_000)}"}`)], json);
    assert.deepEqual(reply.choices, []);
    assert.equal(reply.unreadReason, 'too-large');
  });

  it('does not read compressed replies', () => {
    const reply = readReply(chat(), [gzipSync(body('a'))], { ...json, contentEncoding: 'gzip' });
    assert.deepEqual(reply, {
      status: 200,
      started: false,
      complete: true,
      choices: [],
      unreadReason: 'compressed',
    });
    assert.equal(readReply(chat(), [body('a')], { ...json, contentEncoding: 'identity' }).choices.length, 1);
  });

  it('says nothing about one that was cut', () => {
    const reply = readReply(chat(), [body('a').subarray(0, 60)], { ...json, cut: true });
    assert.deepEqual(reply, { status: 200, started: false, complete: false, choices: [] });
  });

  it('names other shapes', () => {
    for (const other of ['<html>', 'null', '{}', '{"choices":[]}', '[1]', '{"choices":7}']) {
      assert.equal(readReply(chat(), [Buffer.from(other)], json).unreadReason, 'unexpected-shape', other);
    }
    const error = Buffer.from('{"error":{"message":"no"}}');
    assert.equal(readReply(chat(), [error], json).unreadReason, 'engine-error');
  });
});
