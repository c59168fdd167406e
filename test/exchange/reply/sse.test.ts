// However a stream is cut, its events are the same; what is too large for the bound is dropped and counted.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createSseReader } from '../../../src/exchange/reply/sse.ts';
import { byteByByte, chunksAt, cuts } from './chunkings.ts';

function read(chunks: readonly Buffer[], bound: number): { events: string[]; dropped: number } {
  const events: string[] = [];
  const reader = createSseReader(bound, (data) => events.push(data));
  for (const chunk of chunks) reader.push(chunk);
  return { events, dropped: reader.droppedEvents };
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const data = fc.stringMatching(/^[^\r\n\ufeff]{0,12}$/u).filter((text) => !text.startsWith(' '));

/** A stream of events, pings and other fields, with one kind of line end, and the events in it. */
const streams = fc
  .tuple(lineEnd, fc.array(fc.tuple(fc.constantFrom('', ':', ': ping', 'id: 7', 'event: x'), data)))
  .map(([end, parts]) => ({
    bytes: Buffer.from(
      parts.map(([other, text]) => `${other === '' ? '' : other + end}data: ${text}${end}${end}`).join(''),
    ),
    events: parts.map(([, text]) => text),
  }));

describe('createSseReader', () => {
  it('gives the same events for any chunking', () => {
    const cutStreams = streams.chain((stream) => fc.tuple(fc.constant(stream), cuts(stream.bytes)));
    fc.assert(
      fc.property(cutStreams, ([{ bytes, events }, offsets]) => {
        assert.deepEqual(read(chunksAt(bytes, offsets), 100), { events, dropped: 0 });
      }),
    );
  });

  it('keeps characters whole that lie in two chunks', () => {
    const bytes = Buffer.from('data: é漢😀\r\n\r\ndata: [DONE]\n\n');
    assert.deepEqual(read(byteByByte(bytes), 100), { events: ['é漢😀', '[DONE]'], dropped: 0 });
  });

  it('does not report pings or an event that never ended', () => {
    assert.deepEqual(read([Buffer.from(':\n\n: ping\n\ndata: a\n\ndata: b\n')], 100).events, ['a']);
  });

  it('drops an event that is too large, and only that, for any chunking', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const large = 'x'.repeat(5000);
      const bytes = Buffer.from(
        [
          `data: a${end}${end}`,
          `data: ${large}${end}${end}`,
          `:${end}${end}`,
          `data: b${end}${end}`,
          'data: c\n\n',
        ].join(''),
      );
      const expected = { events: ['a', 'b', 'c'], dropped: 1 };
      assert.deepEqual(read([bytes], 1000), expected);
      assert.deepEqual(read(byteByByte(bytes), 1000), expected);
      fc.assert(
        fc.property(cuts(bytes), (offsets) => {
          assert.deepEqual(read(chunksAt(bytes, offsets), 1000), expected);
        }),
      );
    }
  });

  it('drops one after the other', () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(3000)}\n\n`.repeat(3) + 'data: a\n\n');
    assert.deepEqual(read(byteByByte(bytes), 1000), { events: ['a'], dropped: 3 });
    assert.deepEqual(read([bytes], 1000), { events: ['a'], dropped: 3 });
  });
});
