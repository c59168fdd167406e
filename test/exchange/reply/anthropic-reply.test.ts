// What llama-server really answered on `/v1/messages`, and what an engine may answer beside that.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAnthropicReplyReader } from '../../../src/exchange/reply/anthropic-reply.ts';
import type { ReplyReader } from '../../../src/exchange/reply/reply.ts';
import { answered, assertNeverThrows, counts, json, readEveryWay, readReply, streamOf } from './replies.ts';

const messages = (retainedBytes = 1_000_000): ReplyReader => createAnthropicReplyReader({ retainedBytes });

const cutOff = { ...answered, finishReason: 'length' };
const called = { ...cutOff, hasAnswerText: false, hasToolCalls: true };
const thought = { ...cutOff, hasAnswerText: false, hasReasoning: true };

/** Recording → its only choice. */
const recorded: Record<string, object> = {
  messages: { ...cutOff, ...counts(25, 0, 6) },
  'messages-stream': { ...cutOff, ...counts(25, 24, 6) },
  'messages-again': { ...cutOff, ...counts(25, 0, 2) },
  'messages-again-stream': { ...cutOff, ...counts(25, 24, 2) },
  'messages-stop': { ...answered, finishReason: 'stop', ...counts(25, 24, 18) },
  'messages-stop-stream': { ...answered, finishReason: 'stop', ...counts(25, 24, 18) },
  // In one piece the engine writes {} for the arguments that the limit cut, so nothing can be said of them.
  'messages-tools': { ...called, ...counts(153, 0, 128) },
  'messages-tools-stream': { ...called, toolArgumentsValid: false, ...counts(153, 152, 128) },
  // Cut inside a call's first words, the engine gives them as text, or leaves them out of a stream.
  'messages-tools-cut': { ...cutOff, ...counts(153, 152, 20) },
  'messages-tools-cut-stream': { ...cutOff, hasAnswerText: false, ...counts(153, 152, 20) },
  'messages-thinking': { ...answered, hasReasoning: true, finishReason: 'stop', ...counts(25, 0, 23) },
  'messages-thinking-stream': {
    ...answered,
    hasReasoning: true,
    finishReason: 'stop',
    ...counts(25, 24, 23),
  },
  'messages-thinking-cut': { ...thought, ...counts(25, 24, 9) },
  'messages-thinking-cut-stream': { ...thought, ...counts(25, 24, 9) },
};

describe('createAnthropicReplyReader: recorded replies of llama-server, every chunking', () => {
  for (const [name, choice] of Object.entries(recorded)) {
    it(name, () => {
      const reply = readEveryWay(messages, name);
      assert.deepEqual(reply, { status: 200, started: true, complete: true, choices: [choice] });
    });
  }

  it('errors', () => {
    for (const name of ['messages-error', 'messages-error-stream']) {
      const { unreadReason, started, choices } = readEveryWay(messages, name);
      assert.deepEqual([unreadReason, started, choices], ['engine-error', false, []]);
    }
  });
});

const start = { type: 'message_start', message: { usage: { input_tokens: 3, cache_read_input_tokens: 4 } } };
const begin = (index: number, block: object): object => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, part: object): object => ({ type: 'content_block_delta', index, delta: part });
const stop = (index: number): object => ({ type: 'content_block_stop', index });
const end = (reason: string): object[] => [
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const text = delta(0, { type: 'text_delta', text: 'a' });

describe('createAnthropicReplyReader: streams', () => {
  it('has started with the first block, not with the message', () => {
    const reader = messages();
    reader.start(200, 'text/event-stream', '');
    reader.push(streamOf(start, { type: 'ping' }));
    assert.equal(reader.started, false);
    reader.push(streamOf(begin(0, { type: 'text', text: '' })));
    assert.equal(reader.started, true);
  });

  it('is complete with message_stop only, also if the client leaves after it', () => {
    assert.equal(readReply(messages(), [streamOf(start, text)]).complete, false);
    const whole = streamOf(start, text, ...end('end_turn'));
    assert.equal(readReply(messages(), [whole], { cut: true }).complete, true);
  });

  it('knows the prompt of a reply that was cut', () => {
    const [choice] = readReply(messages(), [streamOf(start, text)], { cut: true }).choices;
    assert.deepEqual(choice, { ...answered, promptTokens: 7, cachedTokens: 4 });
  });

  it('is a reply also without any block', () => {
    const { unreadReason, choices } = readReply(messages(), [streamOf(start, ...end('end_turn'))]);
    assert.equal(unreadReason, undefined);
    assert.equal(choices[0]?.hasAnswerText, false);
  });

  it('counts what was written to a cache as part of the prompt', () => {
    const usage = { input_tokens: 3, cache_creation_input_tokens: 5, cache_read_input_tokens: 0 };
    const [choice] = readReply(messages(), [streamOf({ ...start, message: { usage } }, text)]).choices;
    assert.equal(choice?.promptTokens, 8);
  });

  it('reports an error in the middle and keeps what was said before', () => {
    for (const error of [{ type: 'error', error: { type: 'api_error' } }, { error: { code: 500 } }]) {
      const { complete, unreadReason, choices } = readReply(messages(), [streamOf(start, text, error)]);
      assert.deepEqual([complete, unreadReason], [false, 'engine-error']);
      assert.equal(choices[0]?.hasAnswerText, true);
    }
  });

  it('joins the arguments of each call, and says nothing of a call without any', () => {
    const call = (index: number): object => begin(index, { type: 'tool_use', name: 'f' });
    const part = (index: number, json: string): object => delta(index, { partial_json: json });
    const validOf = (...events: object[]): boolean | undefined =>
      readReply(messages(), [streamOf(start, ...events, ...end('tool_use'))]).choices[0]?.toolArgumentsValid;
    assert.equal(validOf(call(0), part(0, '{"a"'), call(1), part(1, '{}'), part(0, ':1}'), stop(0)), true);
    assert.equal(validOf(call(0), part(0, '{"a"'), stop(0)), false);
    assert.equal(validOf(call(0), part(0, ''), stop(0)), undefined);
    const [bare] = readReply(messages(), [streamOf(start, call(0), stop(0), ...end('tool_use'))]).choices;
    assert.deepEqual([bare?.hasToolCalls, bare?.finishReason], [true, 'tool-calls']);
  });

  it('says so if there was nothing it knows', () => {
    assert.equal(readReply(messages(), [streamOf('hello', { hello: 1 })]).unreadReason, 'unexpected-shape');
  });
});

describe('createAnthropicReplyReader: replies in one piece', () => {
  const body = (fields: object): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: 'message',
        content: [],
        stop_reason: 'end_turn',
        usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 2 },
        ...fields,
      }),
    );
  it('believes the arguments of a call that nothing cut', () => {
    const content = [{ type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } }];
    const [choice] = readReply(messages(), [body({ content, stop_reason: 'tool_use' })], json).choices;
    assert.equal(choice?.toolArgumentsValid, true);
  });

  it('knows the counts of a reply that is too large to keep', () => {
    const content = [{ type: 'text', text: 'x'.repeat(5000) }];
    const { choices, unreadReason } = readReply(messages(1000), [body({ content })], json);
    assert.equal(unreadReason, undefined);
    assert.deepEqual(choices, [{ ...answered, finishReason: 'stop', ...counts(7, 4, 2) }]);
  });

  it('says so if it has another shape', () => {
    const { unreadReason } = readReply(messages(), [body({ content: 'text' })], json);
    assert.equal(unreadReason, 'unexpected-shape');
  });
});

describe('createAnthropicReplyReader: any events', () => {
  it('never throws', () => {
    const keys = [
      'type',
      'message',
      'index',
      'content_block',
      'delta',
      'usage',
      'content',
      'stop_reason',
      'text',
    ];
    const types = [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'message_delta',
      'tool_use',
    ];
    assertNeverThrows(messages, { keys, types });
  });
});
