/**
 * A body as a tree that can be written again without loss. `JSON.parse` forgets how a number was written and moves keys
 * like "1" to the front; both can reach a prompt (tool schemas, arguments of calls), so they are guarded while the tree
 * is rebuilt. Judges no syntax: the body has been read before.
 */
import { maxDepth, withoutDeepMembers } from '../exchange/json/deep-members.ts';
import { applyEdits, type Edit } from '../exchange/edits.ts';
import { closingQuote, jsonIn, skipSpace } from '../exchange/json/json-bytes.ts';
import type { Json, JsonObject } from '../exchange/request/request.ts';

export interface ExactJson {
  /** Guarded numbers are objects and guarded keys have another name; everything else is as `JSON.parse` gives it. */
  readonly json: JsonObject;
  /** A part of the tree, or a tree made of its parts, as JSON text with the numbers as they were written. */
  readonly write: (value: Json) => string;
  /** The same in the form in which nlohmann's `dump()` writes it. */
  readonly dump: (value: Json) => string;
}

const quote = 0x22;
const colon = 0x3a;

/** @param parsed the body as `JSON.parse` gave it: used where nothing in the body needs guarding. */
export function exactJson(body: Buffer, parsed: JsonObject): ExactJson {
  const bytes = jsonIn(body);
  const mark = unusedMark(bytes);
  const edits = guards(bytes, mark);
  if (edits.length === 0) {
    return { json: parsed, write: (value) => JSON.stringify(value), dump: (value) => JSON.stringify(value) };
  }
  const guarded = JSON.parse(applyEdits(bytes, edits).toString('utf8')) as JsonObject;
  // A guard adds a level. What bears the prompt has been read, so it is not too deep.
  const json = withoutDeepMembers(guarded, maxDepth + 1) ?? guarded;
  const number = new RegExp(`\\{"${mark}":"([^"]*)"\\}`, 'g');
  const restore = (value: Json, form: (raw: string) => string): string =>
    JSON.stringify(value)
      .replace(number, (_all, raw: string) => form(raw))
      .replaceAll(`"${mark}`, '"');
  return {
    json,
    write: (value) => restore(value, (raw) => raw),
    dump: (value) => restore(value, dumpNumber),
  };
}

/** A word that stands nowhere in the body. */
function unusedMark(body: Buffer): string {
  let mark = '#exact';
  while (body.includes(mark)) mark += '#';
  return mark;
}

function guards(body: Buffer, mark: string): Edit[] {
  const edits: Edit[] = [];
  let at = 0;
  while (at < body.length) {
    const byte = body[at] ?? 0;
    if (byte === quote) {
      const end = closingQuote(body, at + 1);
      if (isDigits(body, at + 1, end) && body[skipSpace(body, end + 1)] === colon) {
        edits.push({ start: at + 1, end: at + 1, replacement: mark });
      }
      at = end + 1;
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const end = numberEnd(body, at);
      const raw = body.toString('latin1', at, end);
      if (!plainNumber.test(raw)) edits.push({ start: at, end, replacement: `{"${mark}":"${raw}"}` });
      at = end;
    } else {
      at += 1;
    }
  }
  return edits;
}

/** Whole numbers that JavaScript writes as they were written. */
const plainNumber = /^(?:0|-?[1-9]\d{0,14})$/;

/** True for the keys that JavaScript puts in front of others: whole numbers of up to ten digits. */
function isDigits(body: Buffer, start: number, end: number): boolean {
  if (end === start || end - start > 10) return false;
  for (let at = start; at < end; at += 1) {
    const byte = body[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return true;
}

function numberEnd(body: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    const byte = body[at] ?? 0;
    const inNumber =
      (byte >= 0x30 && byte <= 0x39) ||
      byte === 0x2e ||
      byte === 0x2b ||
      byte === 0x2d ||
      byte === 0x45 ||
      byte === 0x65;
    if (!inNumber) return at;
    at += 1;
  }
}

/** Exponents at which nlohmann changes to scientific notation (`detail::to_chars`). */
const [minExponent, maxExponent] = [-4, 15];

function dumpNumber(raw: string): string {
  if (/^-?\d+$/.test(raw)) {
    const whole = BigInt(raw);
    if (whole >= -(2n ** 63n) && whole < 2n ** 64n) return whole.toString();
  }
  const value = Number(raw);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (value === 0) return `${sign}0.0`;
  const [mantissa = '', exponent = ''] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const point = Number(exponent) + 1;
  if (digits.length <= point && point <= maxExponent) return `${sign}${digits.padEnd(point, '0')}.0`;
  if (point > 0 && point <= maxExponent) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  if (point > minExponent && point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  const power = String(Math.abs(point - 1)).padStart(2, '0');
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${sign}${digits.charAt(0)}${fraction}e${point > 0 ? '+' : '-'}${power}`;
}
