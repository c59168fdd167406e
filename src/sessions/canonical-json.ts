/** Writes a parsed JSON value as text to be digested. The text is never sent, parsed or kept. */
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import type { Json, JsonObject } from '../exchange/request/request.ts';

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

/** A value written twice; the same string where both are equal. */
export interface Written {
  /** Keys sorted and cache marks left out: equal for what renders equally. */
  readonly byValue: string;
  /** Keys in the order in which they came: differs if the bytes differ in more than white space. */
  readonly asSent: string;
}

/** Writes each text of the value once, whatever the order of the keys around it. */
export function writeJson(value: Json): Written {
  return write(value, 0);
}

function write(value: Json, depth: number): Written {
  if (depth > maxDepth) return same('"\u0000deep"');
  if (typeof value === 'string') {
    return same(value.length > longText ? sampled(value) : JSON.stringify(value));
  }
  if (isArray(value)) {
    const items = value.map((item) => write(item, depth + 1));
    return both(
      `[${items.map((item) => item.byValue).join()}]`,
      `[${items.map((item) => item.asSent).join()}]`,
    );
  }
  return isObject(value) ? writeObject(value, depth) : same(JSON.stringify(value));
}

function writeObject(object: JsonObject, depth: number): Written {
  const members = Object.keys(object).map((key) => {
    const name = JSON.stringify(key);
    const { byValue, asSent } = write(object[key] ?? null, depth + 1);
    return { key, byValue: `${name}:${byValue}`, asSent: `${name}:${asSent}` };
  });
  const rendered = members
    .filter(({ key }) => !unrendered.has(key))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return both(
    `{${rendered.map((member) => member.byValue).join()}}`,
    `{${members.map((member) => member.asSent).join()}}`,
  );
}

function same(text: string): Written {
  return { byValue: text, asSent: text };
}

function both(byValue: string, asSent: string): Written {
  return byValue === asSent ? same(byValue) : { byValue, asSent };
}
