/**
 * Finds values of a JSON body by path, as byte ranges of the original buffer, so that an edit can change those bytes
 * and no others. Builds no values, does not recurse, and answers undefined for what is not there or is not JSON.
 */
import { closingQuote, skipSpace, skipValue } from './json-bytes.ts';
import type { JsonPath } from './request.ts';

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

/** Byte range of the value at `path`. Of duplicate keys the last one counts, as for JSON.parse and the engines. */
export function locateValue(body: Buffer, path: JsonPath): ByteRange | undefined {
  let start = skipSpace(body, 0);
  for (const step of path) {
    const next = typeof step === 'number' ? elementStart(body, start, step) : memberStart(body, start, step);
    if (next === undefined) return undefined;
    start = next;
  }
  const end = skipValue(body, start);
  return end > start ? { start, end } : undefined;
}

/** Byte range between the quotes of the string at `path`; undefined also if the value there is not a string. */
export function locateString(body: Buffer, path: JsonPath): ByteRange | undefined {
  const value = locateValue(body, path);
  if (value === undefined || body[value.start] !== 0x22) return undefined;
  if (value.end - value.start < 2 || body[value.end - 1] !== 0x22) return undefined;
  return { start: value.start + 1, end: value.end - 1 };
}

/**
 * Byte range of the bytes at the start of the string at `path` that mean exactly `text`, whichever way they are
 * escaped (`<`, `\u003c`). Undefined if the string does not begin with `text`.
 */
export function locateStringPrefix(body: Buffer, path: JsonPath, text: string): ByteRange | undefined {
  const string = locateString(body, path);
  if (string === undefined) return undefined;
  const end = matchLiteral(body, string, text);
  return end === undefined ? undefined : { start: string.start, end };
}

/**
 * Byte range that takes the item at `path` out of its list, with the comma that goes with it. Undefined if there is no
 * such item, or no other beside it.
 */
export function locateListItem(body: Buffer, path: JsonPath): ByteRange | undefined {
  const index = path.at(-1);
  const item = locateValue(body, path);
  if (typeof index !== 'number' || item === undefined) return undefined;
  const next = locateValue(body, [...path.slice(0, -1), index + 1]);
  if (next !== undefined) return { start: item.start, end: next.start };
  const before = locateValue(body, [...path.slice(0, -1), index - 1]);
  return before && { start: before.end, end: item.end };
}

/**
 * Byte offsets at which characters of the string at `path` are written.
 * @param offsets UTF-16 offsets into the string, ascending
 * @returns undefined if the value is no string, or one of them lies outside it or inside a surrogate pair
 */
export function locateCharacters(
  body: Buffer,
  path: JsonPath,
  offsets: readonly number[],
): number[] | undefined {
  const string = locateString(body, path);
  if (string === undefined) return undefined;
  const places: number[] = [];
  let at = string.start;
  let passed = 0;
  for (const offset of offsets) {
    while (passed < offset) {
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

function elementStart(body: Buffer, start: number, index: number): number | undefined {
  if (body[start] !== 0x5b) return undefined;
  let at = skipSpace(body, start + 1);
  for (let position = 0; at < body.length && body[at] !== 0x5d; position += 1) {
    if (position === index) return at;
    at = skipSpace(body, skipValue(body, at));
    if (body[at] !== 0x2c) return undefined;
    at = skipSpace(body, at + 1);
  }
  return undefined;
}

function memberStart(body: Buffer, start: number, name: string): number | undefined {
  if (body[start] !== 0x7b) return undefined;
  let found: number | undefined;
  let at = skipSpace(body, start + 1);
  while (body[at] === 0x22) {
    const key = { start: at + 1, end: closingQuote(body, at + 1) };
    at = skipSpace(body, key.end + 1);
    if (body[at] !== 0x3a) return undefined;
    at = skipSpace(body, at + 1);
    if (matchLiteral(body, key, name) === key.end) found = at;
    at = skipSpace(body, skipValue(body, at));
    if (body[at] !== 0x2c) return body[at] === 0x7d ? found : undefined;
    at = skipSpace(body, at + 1);
  }
  return undefined;
}

/** Offset after the bytes of the string literal that mean `text`; undefined if the literal does not begin with it. */
function matchLiteral(body: Buffer, literal: ByteRange, text: string): number | undefined {
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
