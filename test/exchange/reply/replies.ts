// Shows replies to a reader in every way a network may cut them.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ChoiceReply, Reply, ReplyReader } from '../../../src/exchange/reply/reply.ts';
import { byteByByte, chunksAt, cuts } from './chunkings.ts';
import { readRecording } from '../recordings/recording.ts';

export type NewReader = () => ReplyReader;

/** Told of a reply that is one JSON document. */
export const json = { contentType: 'application/json; charset=utf-8' };

/** A choice of which text has come and no end yet. */
export const answered = { index: 0, hasAnswerText: true, hasReasoning: false, hasToolCalls: false };

export function counts(promptTokens: number, cachedTokens: number, completionTokens: number): object {
  return { promptTokens, cachedTokens, completionTokens };
}

/** What stays of a reply in which the engine says an error. */
export const refused = {
  status: 400,
  started: false,
  complete: true,
  choices: [],
  unreadReason: 'engine-error',
};

export interface Told {
  readonly status?: number;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly cut?: boolean;
}

export function readReply(reader: ReplyReader, chunks: readonly Buffer[], told: Told = {}): Reply {
  const { status = 200, contentType = 'text/event-stream', contentEncoding = '', cut = false } = told;
  reader.start(status, contentType, contentEncoding);
  for (const chunk of chunks) reader.push(chunk);
  return reader.end(cut);
}

/** What the recording says; the same for every chunking of it, or the test fails. */
export function readEveryWay(newReader: NewReader, name: string): Reply {
  const { bytes, status, contentType } = readRecording(name);
  const read = (chunks: readonly Buffer[]): Reply => readReply(newReader(), chunks, { status, contentType });
  const whole = read([bytes]);
  assert.deepEqual(read(byteByByte(bytes)), whole, `${name}, byte by byte`);
  for (let cut = 1; cut < bytes.length; cut += 7) {
    assert.deepEqual(read(chunksAt(bytes, [cut])), whole, `${name}, cut at ${cut}`);
  }
  const property = fc.property(cuts(bytes), (offsets) => {
    assert.deepEqual(read(chunksAt(bytes, offsets)), whole, name);
  });
  fc.assert(property, { numRuns: 30 });
  return whole;
}

/** The choices without the rate, which differs each time; it must be there exactly where the counts are. */
export function withoutRates(choices: readonly ChoiceReply[]): object[] {
  return choices.map(({ prefillTokensPerSecond, ...choice }) => {
    assert.equal((prefillTokensPerSecond ?? 0) > 0, choice.promptTokens !== undefined);
    return choice;
  });
}

/** An event stream of these values, strings as they are. */
export function streamOf(...events: (object | string)[]): Buffer {
  const texts = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
  return Buffer.from(texts.map((text) => `data: ${text}\n\n`).join(''));
}

/** Shows the reader events and documents of any shape, made of these member names and types. */
export function assertNeverThrows(
  newReader: NewReader,
  { keys, types }: { readonly keys: readonly string[]; readonly types: readonly string[] },
): void {
  const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
    leaf: fc.oneof(fc.constantFrom(...types, 3, null, true, -1), fc.string()),
    tree: fc.oneof(
      { maxDepth: 4 },
      tie('leaf'),
      fc.dictionary(fc.constantFrom(...keys), tie('tree')),
      fc.array(tie('tree'), { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 6 }), fc.boolean(), (events, isStream) => {
      const bytes = isStream
        ? streamOf(...(events as object[]))
        : Buffer.from(JSON.stringify(events[0] ?? 1));
      readReply(newReader(), [bytes], isStream ? {} : json);
    }),
  );
}
