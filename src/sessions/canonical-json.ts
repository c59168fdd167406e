/** Writes a parsed JSON value as text to be digested. The text is never sent, parsed or kept. */
import { isArray, isObject } from '../exchange/body-reader.ts';
import type { Json, JsonObject } from '../exchange/request.ts';

/** Deeper values are written as a marker: nothing that a template renders is nested like this. */
const maxDepth = 64;

/** Keys by which a client marks parts for a hosted cache: they move from turn to turn and reach no prompt. */
const unrendered = new Set(['cache_control']);

/** Longer texts are media or prompts beyond any context. */
const longText = 1024 * 1024;
const samples = 64;
const sampleLength = 1024;

/** Length and samples of a long text: hashing tens of megabytes on every turn would hold everything else up. */
function sampled(text: string): string {
  const step = (text.length - sampleLength) / (samples - 1);
  const pieces = Array.from({ length: samples }, (_, index) => {
    const start = Math.floor(index * step);
    return text.slice(start, start + sampleLength);
  });
  return `"\u0000long${text.length}"${pieces.join('')}`;
}

/** The value with its keys in the order in which they came: differs if the bytes differ in more than white space. */
export function asSent(value: Json): string {
  return write(value, (object) => Object.keys(object), 0);
}

/** The value with its keys sorted and cache marks left out: equal for what renders equally. */
export function byValue(value: Json): string {
  return write(value, sortedKeys, 0);
}

function sortedKeys(object: JsonObject): string[] {
  return Object.keys(object)
    .filter((key) => !unrendered.has(key))
    .toSorted();
}

function write(value: Json, keysOf: (object: JsonObject) => readonly string[], depth: number): string {
  if (depth > maxDepth) return '"\u0000deep"';
  if (isArray(value)) return `[${value.map((item) => write(item, keysOf, depth + 1)).join()}]`;
  if (typeof value === 'string' && value.length > longText) return sampled(value);
  if (!isObject(value)) return JSON.stringify(value);
  const members = keysOf(value).map(
    (key) => `${JSON.stringify(key)}:${write(value[key] ?? null, keysOf, depth + 1)}`,
  );
  return `{${members.join()}}`;
}
