// A reply changed on its way: as a whole or event by event, in whatever chunks it comes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReplyMender, type Mend } from '../../../src/exchange/reply/reply-mender.ts';

/** Writes the JSON in capitals; leaves out what says `drop`. */
const loudly: Mend = (json) =>
  json.includes('drop') ? undefined : Buffer.from(json.toString().toUpperCase());

function mended(contentType: string, chunks: readonly string[]): string[] {
  const mender = createReplyMender(contentType, loudly);
  const parts = chunks.map((chunk) => mender.push(Buffer.from(chunk)).toString());
  return [...parts, mender.end().toString()];
}

const events = 'text/event-stream; charset=utf-8';

describe('a mended reply', () => {
  it('in one piece is mended when all of it is there', () => {
    assert.deepEqual(mended('application/json', ['{"a":', '1}']), ['', '', '{"A":1}']);
  });

  it('of events goes on event by event, without waiting for more', () => {
    assert.deepEqual(mended(events, ['data: {"a":1}\n\ndata: {"b"', ':2}\n\n', 'data: [done]\n\n']), [
      'data: {"A":1}\n\n',
      'data: {"B":2}\n\n',
      'data: [DONE]\n\n',
      '',
    ]);
  });

  it('has its bytes whichever way they are cut', () => {
    const text =
      ': ping\n\ndata: {"a":1}\n\ndata:{"b":2}\r\n\r\ndata: drop\n\nevent: x\ndata: {"c":3}\n\ndata: {"d"';
    const wanted = ': ping\n\ndata: {"A":1}\n\ndata:{"B":2}\r\n\r\nevent: x\ndata: {"c":3}\n\ndata: {"d"';
    for (let size = 1; size <= text.length; size += 1) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      assert.equal(mended(events, chunks).join(''), wanted, `in chunks of ${size}`);
    }
  });

  it('of several lines in an event is left as it is', () => {
    const text = 'data: {"a":\ndata: 1}\n\n';
    assert.equal(mended(events, [text]).join(''), text);
  });
});
