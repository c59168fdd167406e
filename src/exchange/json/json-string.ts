/**
 * Steps over the characters of a JSON string in its original bytes, whichever way they are escaped (`<`, `\u003c`).
 * Decodes nothing but what is asked for, and never throws.
 */
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
  const words = new DataView(body.buffer, body.byteOffset, body.length);
  let at = string.start;
  let passed = 0;
  for (const offset of offsets) {
    while (passed < offset) {
      // No character is written in fewer bytes than it has units, so this does not lead beyond the offset.
      const stop = Math.min(at + offset - passed, string.end);
      if (stop <= at) return undefined;
      for (; at + 4 <= stop; at += 4) {
        const word = words.getInt32(at, true);
        if (holdsBackslash(word)) break;
        passed += unitsOf(word);
      }
      const ahead = Math.min(at + 4, stop);
      while (at < ahead) {
        const byte = body[at] ?? 0;
        const length = byte === 0x5c ? escapeLength(body, at, string.end) : 1;
        if (length === undefined) return undefined;
        passed += unitsOfByte(byte);
        at += length;
      }
    }
    if (passed !== offset) return undefined;
    // Behind the first byte of a character its unit is passed.
    while (isContinuation(body[at])) at += 1;
    places.push(at);
  }
  return places;
}

/** Four bytes are looked at together: a lone `\` among them leaves its byte of the difference without a bit. */
function holdsBackslash(word: number): boolean {
  const difference = word ^ 0x5c5c5c5c;
  return ((difference - 0x01010101) & ~difference & 0x80808080) !== 0;
}

/** UTF-16 units that the four bytes begin: one for each that continues no character, two where four bytes are one. */
function unitsOf(word: number): number {
  const continuations = (word >>> 7) & ~(word >>> 6) & 0x01010101;
  const pairs = (word >>> 7) & (word >>> 6) & (word >>> 5) & (word >>> 4) & 0x01010101;
  return 4 - sumOfBytes(continuations) + sumOfBytes(pairs);
}

function sumOfBytes(word: number): number {
  return Math.imul(word, 0x01010101) >>> 24;
}

function unitsOfByte(byte: number): number {
  if (isContinuation(byte)) return 0;
  return byte >= 0xf0 ? 2 : 1;
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
  const lead = body[at] ?? 0;
  const isEscape = lead === 0x5c;
  const length = isEscape ? escapeLength(body, at, end) : sequenceLength(lead);
  if (length === undefined || at + length > end) return undefined;
  return { unit: isEscape ? escapedUnit(body, at) : codePoint(body, at, length), length };
}

/** Undefined for what is no escape, or goes on behind `end`. */
function escapeLength(body: Buffer, at: number, end: number): number | undefined {
  const kind = body[at + 1] ?? 0;
  const length = kind === 0x75 ? 6 : 2;
  if (at + length > end || (length === 2 && !simpleEscapes.has(kind))) return undefined;
  for (let digit = at + 2; digit < at + length; digit += 1) if (!isHexDigit(body[digit])) return undefined;
  return length;
}

function isHexDigit(byte = 0): boolean {
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

/** The UTF-16 unit that the escape at `at` means. */
function escapedUnit(body: Buffer, at: number): number {
  const kind = body[at + 1] ?? 0;
  return simpleEscapes.get(kind) ?? Number.parseInt(body.toString('latin1', at + 2, at + 6), 16);
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
