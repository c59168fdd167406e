// What llama-server really answered on its native routes, in every chunking.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLlamaNativeReplyReader } from '../../../src/engines/llama-server/native-reply.ts';
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
} from '../../exchange/reply/replies.ts';

const native = (retainedBytes = 1_000_000): ReplyReader => createLlamaNativeReplyReader({ retainedBytes });

const cutOff = { ...answered, finishReason: 'length' };
const stopped = { ...answered, finishReason: 'stop' };
const one = { generatedIds: [112919, 112919, 83221, 83221, 123100, 123100] };
const three = { generatedIds: [135909, 23052, 127434, 127434, 127434, 127434] };

/** Recording → its choices. Streams carry ids always, replies in one piece on request. */
const recorded: Record<string, object[]> = {
  native: [{ ...cutOff, ...counts(3, 2, 6) }],
  'native-stream': [{ ...cutOff, ...counts(3, 2, 6), ...three }],
  'native-again': [{ ...cutOff, ...counts(3, 2, 6) }],
  'native-again-stream': [{ ...cutOff, ...counts(3, 2, 6), ...three }],
  'native-ids': [{ ...cutOff, ...counts(3, 2, 6), ...three }],
  'native-ids-stream': [{ ...cutOff, ...counts(3, 2, 6), ...three }],
  'native-two': [
    { ...cutOff, ...counts(1, 0, 6), ...one },
    { ...cutOff, ...counts(5, 4, 6), ...three, index: 1 },
  ],
  'native-two-stream': [
    { ...cutOff, ...counts(1, 0, 6), ...one },
    { ...cutOff, ...counts(5, 4, 6), ...three, index: 1 },
  ],
  'native-two-n2': [
    ...[0, 1].map((index) => ({ ...cutOff, ...counts(1, 0, 6), index })),
    ...[2, 3].map((index) => ({ ...cutOff, ...counts(5, 4, 6), index })),
  ],
  'native-two-n2-stream': [
    ...[0, 1].map((index) => ({ ...cutOff, ...counts(1, 0, 6), ...one, index })),
    ...[2, 3].map((index) => ({ ...cutOff, ...counts(5, 4, 6), ...three, index })),
  ],
  'native-eos': [{ ...stopped, ...counts(3, 2, 2) }],
  'native-eos-stream': [{ ...stopped, ...counts(3, 2, 2), generatedIds: [370, 151664] }],
  'native-eos-ids': [
    { ...stopped, ...counts(1, 0, 7), generatedIds: [64, 65, 1683, 102, 110007, 141334, 151663] },
  ],
  // 1683 is half of a character: the stream leaves it out, so the ids are not all there.
  'native-eos-ids-stream': [{ ...stopped, ...counts(1, 0, 7) }],
  'native-word': [{ ...stopped, ...counts(1, 0, 2) }],
  'native-word-stream': [{ ...stopped, ...counts(1, 0, 2), generatedIds: [13683, 39022] }],
  'native-none': [{ ...cutOff, ...counts(3, 2, 1) }],
  'native-none-stream': [{ ...cutOff, ...counts(3, 2, 1), generatedIds: [135909] }],
};

describe('createLlamaNativeReplyReader: recorded replies, every chunking', () => {
  for (const [name, choices] of Object.entries(recorded)) {
    it(name, () => {
      const reply = readEveryWay(native, name);
      assert.deepEqual(withoutRates(reply.choices), choices);
      assert.equal(reply.started, true);
      assert.equal(reply.complete, true);
      assert.equal(reply.unreadReason, undefined);
    });
  }

  it('errors', () => {
    for (const name of ['native-error', 'native-error-stream']) {
      assert.deepEqual(readEveryWay(native, name), refused);
    }
  });
});

describe('createLlamaNativeReplyReader', () => {
  const token = {
    index: 0,
    content: 'a',
    tokens: [5],
    stop: false,
    tokens_predicted: 1,
    tokens_evaluated: 9,
  };

  it('knows the prompt count from the first token on', () => {
    const reply = readReply(native(), [streamOf(token)], { cut: true });
    assert.deepEqual(reply, {
      status: 200,
      started: true,
      complete: false,
      choices: [{ ...answered, promptTokens: 9, completionTokens: 1, generatedIds: [5] }],
    });
  });

  it('is not complete while a prompt has no final object', () => {
    const final = { ...token, tokens: [], stop: true, stop_type: 'eos' };
    assert.equal(readReply(native(), [streamOf(token, { ...token, index: 1 }, final)]).complete, false);
    assert.equal(readReply(native(), [streamOf(token, final)]).complete, true);
  });

  it('has not started while the prompt is being processed', () => {
    const progress = { ...token, content: '', tokens: [0], prompt_progress: { total: 9, cache: 4 } };
    const reply = readReply(native(), [streamOf('null', progress)], { cut: true });
    assert.equal(reply.started, false);
    assert.deepEqual(reply.choices, [
      { ...answered, hasAnswerText: false, promptTokens: 9, cachedTokens: 4 },
    ]);
  });

  it('finds the counts behind a prompt that is too large to keep', () => {
    const body = JSON.stringify({
      ...token,
      stop: true,
      prompt: '"timings":{"cache_n":1}} '.repeat(10_000),
      stop_type: 'limit',
      timings: { cache_n: 3, prompt_n: 6, prompt_per_second: 50, predicted_n: 1 },
    });
    const reply = readReply(native(1000), [Buffer.from(body)], json);
    assert.deepEqual(reply.choices, [{ ...cutOff, ...counts(9, 3, 1), prefillTokensPerSecond: 50 }]);
    assert.equal(reply.unreadReason, undefined);
  });

  it('gives up on an array that is too large', () => {
    const body = JSON.stringify([token, { ...token, prompt: 'x'.repeat(100_000), timings: { prompt_n: 9 } }]);
    const reply = readReply(native(1000), [Buffer.from(body)], json);
    assert.equal(reply.unreadReason, 'too-large');
    assert.deepEqual(reply.choices, []);
  });

  it('drops ids beyond the bound, not the counts', () => {
    const tokens = Array.from({ length: 100 }, (_, index) => index);
    const events = [
      { ...token, tokens },
      { ...token, tokens, tokens_predicted: 200, stop: true, stop_type: 'limit' },
    ];
    assert.equal(readReply(native(2000), [streamOf(...events)]).choices[0]?.generatedIds?.length, 200);
    assert.equal(readReply(native(1500), [streamOf(...events)]).choices[0]?.generatedIds, undefined);
  });
});
