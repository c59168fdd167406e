// Errors for requests that are too long, as the engines write them, through the readers that see them go by.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readLlamaRefusal } from '../../src/engines/llama-server/refusal.ts';
import { readVllmRefusal } from '../../src/engines/vllm/refusal.ts';
import { createAnthropicReplyReader } from '../../src/exchange/reply/anthropic-reply.ts';
import { createOpenAiReplyReader } from '../../src/exchange/reply/openai-reply.ts';
import { createResponsesReplyReader } from '../../src/exchange/reply/responses-reply.ts';
import type { ReplyReader } from '../../src/exchange/reply/reply.ts';
import { readReply, streamOf } from '../exchange/reply/replies.ts';
import { recording } from '../vllm/recordings/recording.ts';

const llama = (retainedBytes = 1_000_000): ReplyReader =>
  createOpenAiReplyReader({ shape: 'chat', retainedBytes, readRefusal: readLlamaRefusal });
const json = { contentType: 'application/json; charset=utf-8' };
const tooLong = {
  error: {
    code: 400,
    message: 'request (33056 tokens) exceeds the available context size (32768 tokens), try increasing it',
    type: 'exceed_context_size_error',
    n_prompt_tokens: 33_056,
    n_ctx: 32_768,
  },
};
const numbers = { promptTokens: 33_056, contextTokens: 32_768 };
const bytes = Buffer.from(JSON.stringify(tooLong));

describe("llama-server's refusal", () => {
  it('is read from the body of a 400, in any chunks', () => {
    const expected = {
      status: 400,
      started: false,
      complete: true,
      choices: [],
      unreadReason: 'engine-error',
      refusal: numbers,
    };
    assert.deepEqual(readReply(llama(), [bytes], { ...json, status: 400 }), expected);
    const halves = [bytes.subarray(0, 40), bytes.subarray(40)];
    assert.deepEqual(readReply(llama(), halves, { ...json, status: 400 }), expected);
  });

  it('is read from a stream', () => {
    assert.deepEqual(readReply(llama(), [streamOf(tooLong)]).refusal, numbers);
  });

  it('is no other error, none that is cut, compressed or no JSON, and no answer', () => {
    const other = { error: { ...tooLong.error, type: 'invalid_request_error' } };
    const read = (body: Buffer, told = {}): unknown =>
      readReply(llama(), [body], { ...json, status: 400, ...told }).refusal;
    assert.equal(read(Buffer.from(JSON.stringify(other))), undefined);
    assert.equal(read(Buffer.from('[1]')), undefined);
    assert.equal(read(Buffer.from('{"error":"full"}')), undefined);
    assert.equal(read(bytes.subarray(0, 60), { cut: true }), undefined);
    assert.equal(read(bytes, { contentEncoding: 'gzip' }), undefined);
    assert.equal(read(bytes, { status: 200 }), undefined);
  });

  it('is not looked for in an error that is larger than what is kept', () => {
    const padded = Buffer.from(JSON.stringify({ padding: 'x'.repeat(2000), ...tooLong }));
    assert.equal(readReply(llama(1024), [padded], { ...json, status: 400 }).refusal, undefined);
  });
});

describe("vLLM's refusal", () => {
  const read = (message: string): unknown => readVllmRefusal({ message });

  const reading = { retainedBytes: 1_000_000, readRefusal: readVllmRefusal };
  const readers = {
    completion: () => createOpenAiReplyReader({ ...reading, shape: 'completion' }),
    chat: () => createOpenAiReplyReader({ ...reading, shape: 'chat' }),
    messages: () => createAnthropicReplyReader(reading),
    responses: () => createResponsesReplyReader(reading),
  };
  /** Of more ids than that it counts none. */
  const prompt = { promptTokens: 32_769, contextTokens: 32_768 };
  const limit = { answerTokens: 40_000, contextTokens: 32_768 };
  for (const [route, name, expected] of [
    ['completion', 'completion-too-long', prompt],
    ['completion', 'completion-limit-too-high', limit],
    ['chat', 'chat-too-long', prompt],
    ['chat', 'chat-limit-too-high', limit],
    ['chat', 'chat-completion-limit-too-high', limit],
    ['messages', 'messages-too-long', prompt],
    ['messages', 'messages-limit-too-high', limit],
    ['responses', 'responses-too-long', prompt],
    ['responses', 'responses-limit-too-high', limit],
  ] as const) {
    it(`is read from what 0.32.0 really answered: ${name}`, () => {
      const { status, text } = recording('qwen3', name);
      const { refusal } = readReply(readers[route](), [Buffer.from(text)], { ...json, status });
      assert.deepEqual(refusal, expected);
    });
  }

  it('is read in the words of other cases and releases', () => {
    const expected = { contextTokens: 4096, promptTokens: 200, answerTokens: 4000 };
    const start = "This model's maximum context length is 4096 tokens. However, you requested ";
    for (const message of [
      `${start}4000 output tokens and your prompt contains at least 200 input tokens, for a total of at least 4200 tokens.`,
      `${start}4200 tokens (200 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.`,
      "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 200 input tokens (4000 > 4096 - 200).",
    ]) {
      assert.deepEqual(read(message), expected, message);
    }
    for (const message of [
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller.',
      "Input length (5000) exceeds model's maximum context length (4096).",
    ]) {
      assert.deepEqual(read(message), { contextTokens: 4096, promptTokens: 5000 }, message);
    }
  });

  it('is no other error', () => {
    assert.equal(read('max_tokens must be at least 1, got 0.'), undefined);
    assert.equal(readVllmRefusal({ message: 404 }), undefined);
  });
});
