/**
 * Steps over the characters of a JSON string in its original bytes, whichever way they are escaped (`<`, `\u003c`).
 * Decodes nothing but what is asked for, and never throws.
 */
import { isAscii } from 'node:buffer';

/** Byte offsets into the body, half open. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const simpleEscapes = new Map([
  [0x22, 0x22],
  [0x2f, 0x2f],
  [0x5c, 0x5c],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

/**
 * Byte offsets at which characters of a string are written.
 * @param string the range between its quotes
 * @param offsets UTF-16 offsets into the string, ascending
 * @returns undefined if one of them lies outside it or inside a surrogate pair
 */
export function locateCharacters(
  body: Buffer,
  string: ByteRange,
  offsets: readonly number[],
): number[] | undefined {
  const places: number[] = [];
  let at = string.start;
  let passed = 0;
  for (const offset of offsets) {
    while (passed < offset) {
      const stretch = offset - passed < fewestPlain ? 0 : plainStretch(body, at, string.end);
      const characters = charactersIn(body, at, at + stretch);
      if (stretch > 0 && passed + characters <= offset) {
        passed += characters;
        at += stretch;
        continue;
      }
      for (const stop = at + Math.max(stretch, 1); at < stop && passed < offset;) {
        const next = characterAt(body, at, string.end);
        if (next === undefined) return undefined;
        passed += next.unit > 0xffff ? 2 : 1;
        at += next.length;
      }
    }
    if (passed !== offset) return undefined;
    places.push(at);
  }
  return places;
}

/** What is passed in one step, at most and at least: looking ahead costs as much as a few characters. */
const mostPlain = 4096;
const fewestPlain = 64;

/** Bytes from `at` on that are whole characters without an escape. */
function plainStretch(body: Buffer, at: number, end: number): number {
  const near = body.subarray(at, Math.min(at + mostPlain, end));
  const escape = near.indexOf(0x5c);
  let length = escape < 0 ? near.length : escape;
  while (length > 0 && isContinuation(body[at + length])) length -= 1;
  return length;
}

/** UTF-16 units that bytes without escapes are: one for each character, and two for those of four bytes. */
function charactersIn(body: Buffer, start: number, end: number): number {
  if (isAscii(body.subarray(start, end))) return end - start;
  let units = 0;
  for (let at = start; at < end; at += 1) {
    const byte = body[at] ?? 0;
    if (!isContinuation(byte)) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Offset after the bytes of the string literal that mean `text`; undefined if the literal does not begin with it. */
export function matchLiteral(body: Buffer, literal: ByteRange, text: string): number | undefined {
  let at = literal.start;
  let matched = 0;
  while (matched < text.length) {
    const next = characterAt(body, at, literal.end);
    if (next === undefined) return undefined;
    const { unit, length } = next;
    const wanted = unit > 0xffff ? text.codePointAt(matched) : text.charCodeAt(matched);
    if (unit !== wanted) return undefined;
    matched += unit > 0xffff ? 2 : 1;
    at += length;
  }
  return at;
}

/** Offset after the last character that is written wholly within the range. */
export function endOfCharacters(body: Buffer, { start, end }: ByteRange): number {
  let at = start;
  for (let next = characterAt(body, at, end); next !== undefined; next = characterAt(body, at, end)) {
    at += next.length;
  }
  return at;
}

interface Character {
  /** A code point, or the UTF-16 unit that an escape means. */
  readonly unit: number;
  /** Bytes that it is written in. */
  readonly length: number;
}

/** The character that begins at `at`; undefined if none does before `end`. */
function characterAt(body: Buffer, at: number, end: number): Character | undefined {
  if (at >= end) return undefined;
  const escaped = body[at] === 0x5c;
  const length = escaped ? escapeLength(body, at) : sequenceLength(body[at] ?? 0);
  if (length === undefined || at + length > end) return undefined;
  const unit = escaped ? escapedUnit(body, at) : codePoint(body, at, length);
  return unit === undefined ? undefined : { unit, length };
}

function escapeLength(body: Buffer, at: number): number {
  return body[at + 1] === 0x75 ? 6 : 2;
}

/** The UTF-16 unit that the escape at `at` means. */
function escapedUnit(body: Buffer, at: number): number | undefined {
  const kind = body[at + 1] ?? 0;
  if (kind !== 0x75) return simpleEscapes.get(kind);
  const digits = body.toString('latin1', at + 2, at + 6);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

/** Length of the UTF-8 sequence that this byte leads; undefined for a byte that leads none. */
function sequenceLength(lead: number): number | undefined {
  if (lead < 0x80) return 1;
  if (lead >= 0xf0) return lead < 0xf8 ? 4 : undefined;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : undefined;
}

function codePoint(body: Buffer, at: number, length: number): number {
  const lead = body[at] ?? 0;
  if (length === 1) return lead;
  let point = lead & (0xff >> (length + 1));
  for (let offset = 1; offset < length; offset += 1) point = (point << 6) | ((body[at + offset] ?? 0) & 0x3f);
  return point;
}
