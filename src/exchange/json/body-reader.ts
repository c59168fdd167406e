/**
 * From a body's bytes to a JSON object, or the reason why not. A body that the engine and JSON.parse would read
 * differently (lone surrogates) is unreadable here: nothing is said about it and it is forwarded.
 */
import { isUtf8 } from 'node:buffer';
import { maxDepth, withoutDeepMembers } from './deep-members.ts';
import { jsonIn, measureJson } from './json-bytes.ts';
import type { Json, JsonObject, UnreadableReason } from '../request/request.ts';

export type BodyReading =
  | { readonly readable: true; readonly json: JsonObject }
  | { readonly readable: false; readonly reason: UnreadableReason };

/** Values and keys beyond which no object is built: more cost a gigabyte and no prompt needs them. */
export const maxValues = 4_194_304;

/** Never throws. Blocks for about 3 ms per MiB: large bodies belong in a worker. */
export function readBody(body: Buffer): BodyReading {
  const bytes = jsonIn(body);
  if (!isUtf8(bytes)) return unreadable('not-utf8');
  const { depth, values } = measureJson(bytes, maxValues);
  if (values > maxValues) return unreadable('too-many-values');
  const parsed = parseJson(bytes.toString('utf8'));
  if (parsed === undefined) return unreadable('not-json');
  if (!isObject(parsed)) return unreadable('wrong-shape');
  // Valid UTF-8 holds no surrogates, so only an escape can make one: \ud800 to \udfff.
  const mayBeLone = bytes.includes('\\ud') || bytes.includes('\\uD');
  if (mayBeLone && !isWellFormed(parsed)) return unreadable('lone-surrogate');
  const json = depth > maxDepth ? withoutDeepMembers(parsed) : parsed;
  return json === undefined ? unreadable('too-deep') : { readable: true, json };
}

/** True for JSON objects: not null, not an array. */
export function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** `Array.isArray` that keeps the element type: it does not narrow readonly arrays. */
export function isArray(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

/** The value, or undefined if the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not JSON is an answer here, not an accident: the caller says so.
    return undefined;
  }
}

function unreadable(reason: UnreadableReason): BodyReading {
  return { readable: false, reason };
}

/** False if a string or key anywhere inside holds half a surrogate pair. */
function isWellFormed(json: Json): boolean {
  const open: Json[] = [json];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') {
      if (loneSurrogate.test(value)) return false;
    } else if (isArray(value)) {
      for (const element of value) open.push(element);
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        if (loneSurrogate.test(key)) return false;
        open.push(value[key] ?? null);
      }
    }
  }
  return true;
}

/** With the `u` flag whole pairs are one code point, so the class meets lone halves only. */
const loneSurrogate = /[\ud800-\udfff]/u;
