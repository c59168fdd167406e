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
  let at = string.start;
  let passed = 0;
  for (const offset of offsets) {
    while (passed < offset) {
      // No character is written in fewer bytes than it has units, so this does not lead beyond the offset.
      const stop =
        offset - passed < fewestDecoded ? at : wholeCharacters(body, at, at + offset - passed, string.end);
      const units = stop > at ? unitsIn(body, at, stop) : undefined;
      if (units !== undefined) {
        passed += units;
        at = stop;
        continue;
      }
      const next = characterAt(body, at, string.end);
      if (next === undefined) return undefined;
      passed += next.unit > 0xffff ? 2 : 1;
      at += next.length;
    }
    if (passed !== offset) return undefined;
    places.push(at);
  }
  return places;
}

/** What is decoded in one step, at most and at least: that costs as much as a few characters. */
const mostDecoded = 65_536;
const fewestDecoded = 64;
const longestEscape = 6;

/** The end of the last character that is written wholly between `at`, where one begins, and `wanted`. */
function wholeCharacters(body: Buffer, at: number, wanted: number, end: number): number {
  let stop = Math.min(wanted, at + mostDecoded);
  if (stop >= end) return end;
  while (stop > at && isContinuation(body[stop])) stop -= 1;
  for (let last = stop - 1; last >= Math.max(at, stop - longestEscape); last -= 1) {
    if (body[last] !== 0x5c) continue;
    let first = last;
    while (first > at && body[first - 1] === 0x5c) first -= 1;
    // Of an even number each second one is the end of an escape.
    return (last - first) % 2 === 0 ? last : stop;
  }
  return stop;
}

/** UTF-16 units that the bytes mean, counted natively; undefined where they are no JSON. */
function unitsIn(body: Buffer, start: number, end: number): number | undefined {
  const written = body.toString('utf8', start, end);
  if (!written.includes('\\')) return written.length;
  try {
    return (JSON.parse(`"${written}"`) as string).length;
  } catch {
    return undefined;
  }
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
