// Beginnings of turns are found wherever the network cuts, in all kinds of replies, and nothing of the text is kept.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createLlamaNativeReplyReader } from '../../../src/engines/llama-server/native-reply.ts';
import { createVllmReplyReader } from '../../../src/engines/vllm/reply.ts';
import { createAnthropicReplyReader } from '../../../src/exchange/reply/anthropic-reply.ts';
import { createOpenAiReplyReader } from '../../../src/exchange/reply/openai-reply.ts';
import type { ReplyReader } from '../../../src/exchange/reply/reply.ts';
import { createResponsesReplyReader } from '../../../src/exchange/reply/responses-reply.ts';
import { turnMarksOf, type TurnMark } from '../../../src/exchange/written/turn-marks.ts';
import { compileTurnMarks, TurnScan, type TurnSightings } from '../../../src/exchange/written/turn-scan.ts';
import { buildRequest, factsOf } from '../../support/exchange-builder.ts';
import { readReply, streamOf } from '../reply/replies.ts';

const turnMarks = turnMarksOf(
  buildRequest('chat', { messages: [{ role: 'user', content: 'Hi' }] }),
  factsOf.qwen3,
);
const ran = 'It is four, friend.\n<|im_start|>user\nAnd what else?\nassistant\nNothing else at all.';
const expected: TurnSightings = {
  seen: [
    { role: 'user', form: 'marker', at: 20, words: 4 },
    { role: 'assistant', form: 'header', at: 52, words: 3 },
  ],
  wordsAfter: 4,
};

function scan(pieces: readonly string[], marks: readonly TurnMark[] = turnMarks): TurnSightings {
  const pattern = compileTurnMarks(marks);
  assert.ok(pattern !== undefined);
  const turns = new TurnScan(pattern);
  for (const piece of pieces) turns.push(piece);
  return turns.end();
}

function singly(text: string): string[] {
  return text.match(/./gs) ?? [];
}

function cutAt(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.toSorted((a, b) => a - b), text.length];
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}

describe('TurnScan', () => {
  it('finds marks and counts words', () => {
    assert.deepEqual(scan([ran]), expected);
    assert.deepEqual(scan(singly(ran)), expected);
  });

  it('finds the same in every chunking, also of long texts', () => {
    const pieces = fc.array(
      fc.constantFrom(
        'word ',
        '\n',
        '```',
        '`',
        '<|im_start|>user',
        '<|im_start|>',
        'user\n',
        '.',
        'assistant\n',
        'x'.repeat(97),
      ),
      { maxLength: 60 },
    );
    const property = fc.property(pieces, fc.array(fc.nat(2000), { maxLength: 12 }), (texts, places) => {
      const text = texts.join('');
      const whole = scan([text]);
      assert.deepEqual(
        scan(
          cutAt(
            text,
            places.map((place) => Math.min(place, text.length)),
          ),
        ),
        whole,
      );
      assert.deepEqual(scan(singly(text)), whole);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('takes marks as texts, also where one begins with another or has signs of a pattern', () => {
    const marks = ['[A]', '[A](', '[A](?:x)+', '$^', 'a|b'].map((text): TurnMark => ({
      role: text,
      form: 'marker',
      text,
    }));
    for (const { text } of marks) {
      assert.deepEqual(scan([`\n${text}`], marks).seen, [{ role: text, form: 'marker', at: 1, words: 0 }]);
    }
  });

  it('keeps the first of very many, and the words after the last', () => {
    const { seen, wordsAfter } = scan(['\n<|im_start|>user\n'.repeat(1000), 'and the end']);
    assert.equal(seen.length, 16);
    assert.equal(wordsAfter, 3);
  });

  it('reads a long text in linear time', () => {
    const seconds = (repeats: number): number => {
      const text = '<|im_star user .user assistant ``'.repeat(repeats);
      const start = performance.now();
      scan([text]);
      return performance.now() - start;
    };
    seconds(20_000);
    const short = seconds(10_000);
    assert.ok(seconds(100_000) < Math.max(200, short * 40));
  });
});

describe('reply readers', () => {
  const chunks = ran.match(/.{1,7}/gs) ?? [];
  const reading = { retainedBytes: 1_000_000, turnMarks };
  const openAi = (shape: 'chat' | 'completion') => (): ReplyReader =>
    createOpenAiReplyReader({ ...reading, shape });
  const response = { object: 'response', status: 'completed', output: [] };
  const message = { type: 'message', id: 'm', content: [{ type: 'output_text', text: ran }] };
  const rows: readonly (readonly [
    name: string,
    reader: () => ReplyReader,
    whole: object,
    events: object[],
  ])[] = [
    [
      'of chats',
      openAi('chat'),
      { choices: [{ index: 0, message: { content: ran } }] },
      chunks.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
    ],
    [
      'of texts',
      openAi('completion'),
      { choices: [{ index: 0, text: ran }] },
      chunks.map((text) => ({ choices: [{ index: 0, text }] })),
    ],
    [
      'of vLLM',
      () => createVllmReplyReader(buildRequest('completion', { prompt: 'x' }), reading),
      { choices: [{ index: 0, text: ran }] },
      chunks.map((text) => ({ choices: [{ index: 0, text }] })),
    ],
    [
      'of native routes',
      () => createLlamaNativeReplyReader(reading),
      { index: 0, content: ran, stop: true },
      chunks.map((content) => ({ index: 0, content, stop: false })),
    ],
    [
      'of messages',
      () => createAnthropicReplyReader(reading),
      { content: [{ type: 'text', text: ran }] },
      [
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...chunks.map((text) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text },
        })),
      ],
    ],
    [
      'of responses, whose text comes whole once more at its end',
      () => createResponsesReplyReader(reading),
      { ...response, output: [message] },
      [
        { type: 'response.output_item.added', item: { ...message, content: [] } },
        ...chunks.map((delta) => ({ type: 'response.output_text.delta', delta })),
        { type: 'response.output_item.done', item: message },
        { type: 'response.completed', response },
      ],
    ],
  ];
  for (const [name, reader, whole, events] of rows) {
    it(`look through the text ${name}`, () => {
      const json = { contentType: 'application/json' };
      const inOne = readReply(reader(), [Buffer.from(JSON.stringify(whole))], json);
      assert.deepEqual(inOne.choices[0]?.turns, expected);
      assert.deepEqual(readReply(reader(), [streamOf(...events)]).choices[0]?.turns, expected);
    });
  }

  it('look at no reasoning, and at nothing where there is nothing to look for', () => {
    const thought = { choices: [{ index: 0, message: { content: 'Four.', reasoning_content: ran } }] };
    const read = (reader: ReplyReader): unknown =>
      readReply(reader, [Buffer.from(JSON.stringify(thought))], { contentType: 'application/json' })
        .choices[0]?.turns;
    assert.deepEqual(read(openAi('chat')()), { seen: [], wordsAfter: 1 });
    assert.equal(read(createOpenAiReplyReader({ shape: 'chat', retainedBytes: 1000 })), undefined);
  });
});
