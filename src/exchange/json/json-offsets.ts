/**
 * Finds values of a JSON body by path, as byte ranges of the original buffer, so that an edit can change those bytes
 * and no others. Builds no values, does not recurse, and answers undefined for what is not there or is not JSON.
 */
import { parseJson } from './body-reader.ts';
import { closingQuote, jsonStart, skipSpace, skipValue } from './json-bytes.ts';
import { endOfCharacters, matchLiteral, type ByteRange } from './json-string.ts';
import type { JsonPath } from '../request/request.ts';

/** Byte range of the value at `path`. Of duplicate keys the last one counts, as for JSON.parse and the engines. */
export function locateValue(body: Buffer, path: JsonPath): ByteRange | undefined {
  let start = skipSpace(body, jsonStart(body));
  for (const step of path) {
    const next = childStarts(body, start, new Set([step])).get(step);
    if (next === undefined) return undefined;
    start = next;
  }
  const end = skipValue(body, start);
  return end > start ? { start, end } : undefined;
}

/** Byte range between the quotes of the string at `path`; undefined also if the value there is not a string. */
export function locateString(body: Buffer, path: JsonPath): ByteRange | undefined {
  return withinQuotes(body, locateValue(body, path));
}

/** The same for several paths. They share the way to where they part: a long list is gone through once for all. */
export function locateStrings(body: Buffer, paths: readonly JsonPath[]): (ByteRange | undefined)[] {
  const found: (ByteRange | undefined)[] = paths.map(() => undefined);
  const values = [{ start: skipSpace(body, jsonStart(body)), depth: 0, indexes: [...paths.keys()] }];
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    const { start, depth } = value;
    const further = new Map<string | number, number[]>();
    for (const index of value.indexes) {
      const step = paths[index]?.[depth];
      if (step === undefined) found[index] = withinQuotes(body, { start, end: skipValue(body, start) });
      else further.set(step, [...(further.get(step) ?? []), index]);
    }
    for (const [step, child] of childStarts(body, start, new Set(further.keys()))) {
      values.push({ start: child, depth: depth + 1, indexes: further.get(step) ?? [] });
    }
  }
  return found;
}

function withinQuotes(body: Buffer, value: ByteRange | undefined): ByteRange | undefined {
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

/** What the string at `path` begins with, read from no more than so many bytes; undefined if there is no string. */
export function readStringStart(body: Buffer, path: JsonPath, mostBytes: number): string | undefined {
  const string = locateString(body, path);
  if (string === undefined) return undefined;
  const end = endOfCharacters(body, {
    start: string.start,
    end: Math.min(string.end, string.start + mostBytes),
  });
  const start = parseJson(`"${body.toString('utf8', string.start, end)}"`);
  return typeof start === 'string' ? start : undefined;
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

/** Where those of the steps lead to that the value at `start` has, in one pass over it. */
function childStarts(
  body: Buffer,
  start: number,
  steps: ReadonlySet<string | number>,
): Map<string | number, number> {
  if (steps.size === 0) return new Map<string, number>();
  if (body[start] === 0x5b) return elementStarts(body, start, steps);
  return body[start] === 0x7b ? memberStarts(body, start, steps) : new Map<string, number>();
}

function elementStarts(
  body: Buffer,
  start: number,
  steps: ReadonlySet<string | number>,
): Map<number, number> {
  const found = new Map<number, number>();
  const indexes = [...steps].filter((step) => typeof step === 'number');
  const last = Math.max(-1, ...indexes);
  let at = skipSpace(body, start + 1);
  for (let position = 0; position <= last && at < body.length && body[at] !== 0x5d; position += 1) {
    if (steps.has(position)) found.set(position, at);
    if (position === last) break;
    at = skipSpace(body, skipValue(body, at));
    if (body[at] !== 0x2c) break;
    at = skipSpace(body, at + 1);
  }
  return found;
}

function memberStarts(body: Buffer, start: number, steps: ReadonlySet<string | number>): Map<string, number> {
  const found = new Map<string, number>();
  const names = [...steps].filter((step) => typeof step === 'string');
  let at = skipSpace(body, start + 1);
  while (body[at] === 0x22) {
    const key = { start: at + 1, end: closingQuote(body, at + 1) };
    at = skipSpace(body, key.end + 1);
    if (body[at] !== 0x3a) return new Map<string, number>();
    at = skipSpace(body, at + 1);
    for (const name of names) if (matchLiteral(body, key, name) === key.end) found.set(name, at);
    at = skipSpace(body, skipValue(body, at));
    if (body[at] !== 0x2c) return body[at] === 0x7d ? found : new Map<string, number>();
    at = skipSpace(body, at + 1);
  }
  return new Map<string, number>();
}
