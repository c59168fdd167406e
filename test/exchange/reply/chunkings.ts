// The ways in which a network may cut a reply: whole, byte by byte, in two at any place, and at random.
import fc from 'fast-check';

/** Offsets at which to cut, as a fast-check arbitrary; shrinks towards few cuts. */
export function cuts(bytes: Buffer): fc.Arbitrary<readonly number[]> {
  return fc.uniqueArray(fc.nat(bytes.length), { maxLength: 30 });
}

export function chunksAt(bytes: Buffer, offsets: readonly number[]): Buffer[] {
  const ends = [...offsets, bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

export function byteByByte(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}
