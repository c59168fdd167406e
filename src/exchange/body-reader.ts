/**
 * From a body's bytes to a JSON object, or the reason why not. A body that the engine and JSON.parse would read
 * differently (lone surrogates, byte order marks) is unreadable here: nothing is said about it and it is forwarded.
 */
import { isUtf8 } from 'node:buffer';
import { measureJson } from './json-bytes.ts';
import type { Json, JsonObject, UnreadableReason } from './request.ts';

export type BodyReading =
  | { readonly readable: true; readonly json: JsonObject }
  | { readonly readable: false; readonly reason: UnreadableReason };

/** Nesting beyond which nobody's request is read; later walkers recurse. */
const maxDepth = 512;
/** Values and keys beyond which no object is built: more cost a gigabyte and no prompt needs them. */
export const maxValues = 4_194_304;

/** Never throws. Blocks for about 3 ms per MiB: large bodies belong in a worker. */
export function readBody(body: Buffer): BodyReading {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return unreadable('byte-order-mark');
  if (!isUtf8(body)) return unreadable('not-utf8');
  const { depth, values } = measureJson(body, { depth: maxDepth, values: maxValues });
  if (depth > maxDepth) return unreadable('too-deep');
  if (values > maxValues) return unreadable('too-many-values');
  const json = parseJson(body.toString('utf8'));
  if (json === undefined) return unreadable('not-json');
  if (!isObject(json)) return unreadable('wrong-shape');
  // Valid UTF-8 holds no surrogates, so only an escape can make one: \ud800 to \udfff.
  const mayBeLone = body.includes('\\ud') || body.includes('\\uD');
  return mayBeLone && !isWellFormed(json) ? unreadable('lone-surrogate') : { readable: true, json };
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
