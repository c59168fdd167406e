// What llama-server really answered on `/v1/responses`, and what an engine may answer beside that.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createResponsesReplyReader } from '../../../src/exchange/reply/responses-reply.ts';
import type { ReplyReader } from '../../../src/exchange/reply/reply.ts';
import { answered, assertNeverThrows, counts, json, readEveryWay, readReply, streamOf } from './replies.ts';

const responses = (retainedBytes = 1_000_000): ReplyReader => createResponsesReplyReader({ retainedBytes });

const stopped = { ...answered, finishReason: 'stop' };
const cutCall = {
  ...answered,
  finishReason: 'tool-calls',
  hasAnswerText: false,
  hasToolCalls: true,
  toolArgumentsValid: false,
};
const thought = { ...stopped, hasAnswerText: false, hasReasoning: true };

/** Recording → its only choice. The engine says "completed" also where its limit cut the reply. */
const recorded: Record<string, object> = {
  responses: { ...stopped, ...counts(25, 24, 6) },
  'responses-stream': { ...stopped, ...counts(25, 24, 6) },
  'responses-again': { ...stopped, ...counts(25, 24, 2) },
  'responses-again-stream': { ...stopped, ...counts(25, 24, 2) },
  'responses-tools': { ...cutCall, ...counts(161, 61, 128) },
  'responses-tools-stream': { ...cutCall, ...counts(161, 160, 128) },
  'responses-tools-cut': { ...cutCall, ...counts(161, 160, 20) },
  'responses-tools-cut-stream': { ...cutCall, ...counts(161, 160, 20) },
  'responses-thinking': { ...stopped, hasReasoning: true, ...counts(25, 24, 23) },
  'responses-thinking-stream': { ...stopped, hasReasoning: true, ...counts(25, 24, 23) },
  'responses-thinking-cut': { ...thought, ...counts(25, 24, 9) },
  'responses-thinking-cut-stream': { ...thought, ...counts(25, 24, 9) },
};

describe('createResponsesReplyReader: recorded replies of llama-server, every chunking', () => {
  for (const [name, expected] of Object.entries(recorded)) {
    it(name, () => {
      const { choices, ...reply } = readEveryWay(responses, name);
      assert.deepEqual(reply, { status: 200, started: true, complete: true });
      const [{ prefillTokensPerSecond: rate, ...choice } = answered as never] = choices;
      assert.deepEqual(choice, expected);
      // Only the stream's last event carries the timings.
      assert.equal(rate !== undefined, name.endsWith('-stream'));
    });
  }

  it('errors', () => {
    for (const name of ['responses-error', 'responses-error-stream']) {
      const { unreadReason, started, choices } = readEveryWay(responses, name);
      assert.deepEqual([unreadReason, started, choices], ['engine-error', false, []]);
    }
  });
});

const created = { type: 'response.created', response: { status: 'in_progress' } };
const text = { type: 'response.output_text.delta', delta: 'a' };
const end = (type: string, fields: object = {}): object => ({
  type: `response.${type}`,
  response: {
    status: type,
    usage: { input_tokens: 7, output_tokens: 2, input_tokens_details: { cached_tokens: 4 } },
    ...fields,
  },
});
const call = (id: string): object => ({
  type: 'response.output_item.added',
  item: { type: 'function_call', id, arguments: '' },
});
const part = (id: string, delta: string): object => ({
  type: 'response.function_call_arguments.delta',
  item_id: id,
  delta,
});
const done = (id: string, text_: string): object => ({
  type: 'response.output_item.done',
  item: { type: 'function_call', id, arguments: text_ },
});

describe('createResponsesReplyReader: streams', () => {
  it('has started with the first item, not with the response', () => {
    const reader = responses();
    reader.start(200, 'text/event-stream', '');
    reader.push(streamOf(created, { type: 'response.in_progress' }));
    assert.equal(reader.started, false);
    reader.push(streamOf({ type: 'response.output_item.added', item: { type: 'message' } }));
    assert.equal(reader.started, true);
  });

  it('is complete with its last event only, also if the client leaves after it', () => {
    assert.equal(readReply(responses(), [streamOf(created, text)]).complete, false);
    const whole = streamOf(created, text, end('completed'));
    assert.equal(readReply(responses(), [whole], { cut: true }).complete, true);
  });

  it('knows an answer that a limit cut, where the engine says so', () => {
    const fields = { incomplete_details: { reason: 'max_output_tokens' } };
    const [choice] = readReply(responses(), [streamOf(text, end('incomplete', fields))]).choices;
    assert.deepEqual(choice, { ...answered, finishReason: 'length', ...counts(7, 4, 2) });
  });

  it('reports an error in the middle and keeps what was said before', () => {
    for (const error of [{ type: 'error', message: 'x' }, { error: { code: 500 } }, end('failed')]) {
      const { complete, unreadReason, choices } = readReply(responses(), [streamOf(text, error)]);
      assert.deepEqual([complete, unreadReason], [false, 'engine-error']);
      assert.equal(choices[0]?.hasAnswerText, true);
    }
  });

  it('joins the arguments of each call, and says nothing of a call without any', () => {
    const validOf = (...events: object[]): boolean | undefined =>
      readReply(responses(), [streamOf(...events, end('completed'))]).choices[0]?.toolArgumentsValid;
    const two = [call('a'), part('a', '{"a"'), call('b'), part('b', '{}'), part('a', ':1}')];
    assert.equal(validOf(...two, done('a', '{"a":1}'), done('b', '{}')), true);
    assert.equal(validOf(call('a'), part('a', '{"a"'), done('a', '{"a"')), false);
    assert.equal(validOf(call('a'), done('a', '{}')), true);
    assert.equal(validOf(call('a'), done('a', '')), undefined);
  });

  it('says so if there was nothing it knows', () => {
    assert.equal(readReply(responses(), [streamOf('hello', { hello: 1 })]).unreadReason, 'unexpected-shape');
  });
});

describe('createResponsesReplyReader: replies in one piece', () => {
  const body = (fields: object): Buffer =>
    Buffer.from(
      JSON.stringify({
        object: 'response',
        output: [],
        status: 'completed',
        usage: { input_tokens: 7, output_tokens: 2, input_tokens_details: { cached_tokens: 4 } },
        ...fields,
      }),
    );

  it('knows the counts of a reply that is too large to keep', () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(5000) }] }];
    const { choices, unreadReason } = readReply(responses(1000), [body({ output })], json);
    assert.equal(unreadReason, undefined);
    assert.deepEqual(choices, [{ ...stopped, ...counts(7, 4, 2) }]);
  });

  it('says so if it has another shape', () => {
    assert.equal(readReply(responses(), [body({ output: 'x' })], json).unreadReason, 'unexpected-shape');
  });
});

describe('createResponsesReplyReader: any events', () => {
  it('never throws', () => {
    const keys = ['type', 'item', 'delta', 'response', 'usage', 'output', 'content', 'arguments', 'id'];
    const types = [
      'response.completed',
      'response.output_item.done',
      'function_call',
      'message',
      'response.failed',
    ];
    assertNeverThrows(responses, { keys, types });
  });
});
