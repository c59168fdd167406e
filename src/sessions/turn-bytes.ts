/** What a remembered turn costs in memory. A test compares these numbers with the heap's own growth. */
import type { LineDigests, RequestDigest, Turn } from '../exchange/session-match.ts';

// Measured on Node 20 (x64), per item, slots in the containers that hold it included.
const typedArrayBytes = 192;
const digestStringBytes = 56;
const partBytes = 152;
const turnObjectBytes = 320;
const linesObjectBytes = 480;
const stringBytes = 32;
const sentObjectBytes = 48;
const arrayBytes = 32;

/** A session's object, its name, its place in the store's map, and a bucket of its own. */
export const sessionOverheadBytes = 1000;

/**
 * Bytes that a turn keeps alive, overhead included. Digests of a system prompt are counted for each turn, though turns
 * share them for as long as the prompt stays the same.
 */
export function turnBytes(turn: Turn): number {
  const { ids, generated, digest, lostReasoning, attributionLine, sent, salt } = turn;
  return (
    turnObjectBytes +
    2 * typedArrayBytes +
    ids.byteLength +
    generated.byteLength +
    (digest ? digestBytes(digest) : 0) +
    (lostReasoning === undefined ? 0 : arrayBytes + 8 * lostReasoning.length) +
    (salt === undefined ? 0 : digestStringBytes) +
    (attributionLine === undefined ? 0 : stringBytes + 2 * attributionLine.length) +
    (sent ? sentObjectBytes + typedArrayBytes + sent.head.byteLength : 0)
  );
}

function digestBytes({ messages, tools, system }: RequestDigest): number {
  const spoken = messages.filter((message) => message.spoken !== undefined).length;
  return (
    (3 + spoken) * digestStringBytes +
    (messages.length + tools.length) * partBytes +
    (system ? lineBytes(system) : 0)
  );
}

function lineBytes({ lines, timeMasked, dateMasked, wordSketch }: LineDigests): number {
  const slots = 8 * (lines.length + timeMasked.length + dateMasked.length + wordSketch.length);
  const masked =
    timeMasked.filter((line, index) => line !== lines[index]).length +
    dateMasked.filter((line, index) => line !== timeMasked[index]).length;
  return linesObjectBytes + slots + (lines.length + masked) * digestStringBytes;
}

/** The turn with arrays that own their memory: a view would keep all of the buffer behind it alive, uncounted. */
export function withOwnBuffers(turn: Turn): Turn {
  const { ids, generated, sent } = turn;
  return {
    ...turn,
    ids: own(ids),
    generated: own(generated),
    ...(sent && { sent: { ...sent, head: own(sent.head) } }),
  };
}

function own(ids: Uint32Array): Uint32Array {
  return ids.byteLength === ids.buffer.byteLength ? ids : ids.slice();
}
