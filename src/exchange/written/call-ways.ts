/**
 * Where calls stand in a prompt, in the way in which this template was seen to write calls of the same tool: as they were
 * sent, or each argument behind its key, as tags and lines have them. What stands between the arguments is learnt from one
 * call and expected of the next.
 */
import { isObject, parseJson } from '../json/body-reader.ts';
import type { Json } from '../request/request.ts';
import { literalCallEnd, spacedEnd } from './call-literal.ts';
import { namePlace } from './name-place.ts';
import { standsAt, trimmed } from './text-place.ts';

/** What stands in front of each argument that says something, the first behind the name. */
interface CallWay {
  readonly keys: readonly string[];
  /** From the place behind what was before the call to its name. */
  readonly lead: number;
  readonly pieces: readonly string[];
}

interface Arguments {
  readonly keys: string[];
  readonly values: Json[];
}

/** What a template writes in front of a call is shorter. */
const reach = 1024;
/** From what is before a key to the key, and from there to its value. */
const keyReach = 256;
const valueReach = 64;
/** A template that writes more in each call, such as an id, is written in no way that could be expected. */
const mostLearnt = 8;

export class CallWays {
  readonly #rendered: string;
  readonly #ways = new Map<string, CallWay[]>();
  #learnt = 0;

  constructor(rendered: string) {
    this.#rendered = rendered;
  }

  /** The end of the call's arguments; undefined where it is not there so, which says nothing of other ways of writing it. */
  endOf(call: Json, from: number): number | undefined {
    if (this.#ways.size === 0) {
      const end = literalCallEnd(call, this.#rendered, from);
      if (end !== undefined) return end;
    }
    const inner = isObject(call) ? call['function'] : undefined;
    if (!isObject(inner) || typeof inner['name'] !== 'string' || inner['name'] === '') return undefined;
    const { name } = inner;
    const given = argumentsOf(inner['arguments']);
    if (given === undefined) return undefined;
    for (const way of this.#ways.get(name) ?? []) {
      const end = this.#follow(way, name, given, from);
      if (end !== undefined) return end;
    }
    return this.#learn(name, given, from) ?? literalCallEnd(call, this.#rendered, from);
  }

  #follow({ keys, lead, pieces }: CallWay, name: string, given: Arguments, from: number): number | undefined {
    const rendered = this.#rendered;
    if (keys.length !== given.keys.length || !standsAt(rendered, name, from + lead)) return undefined;
    let at = from + lead + name.length;
    for (const [index, piece] of pieces.entries()) {
      if (keys[index] !== given.keys[index] || !standsAt(rendered, piece, at)) return undefined;
      const end = valueEnd(given.values[index] ?? null, rendered, at + piece.length);
      if (end === undefined) return undefined;
      at = end;
    }
    return at;
  }

  #learn(name: string, given: Arguments, from: number): number | undefined {
    const rendered = this.#rendered;
    if (this.#learnt >= mostLearnt || given.keys.length === 0) return undefined;
    const named = namePlace(rendered, name, from, from + reach);
    if (named < 0) return undefined;
    const pieces: string[] = [];
    let at = named + name.length;
    for (const [index, key] of given.keys.entries()) {
      const keyed = namePlace(rendered, key, at, at + keyReach);
      if (keyed < 0) return undefined;
      const value = given.values[index] ?? null;
      const place = valuePlace(value, rendered, keyed + key.length);
      const end = place === undefined ? undefined : valueEnd(value, rendered, place);
      if (end === undefined) return undefined;
      pieces.push(rendered.slice(at, place));
      at = end;
    }
    this.#learnt += 1;
    const ways = this.#ways.get(name) ?? [];
    ways.push({ keys: given.keys, lead: named - from, pieces });
    this.#ways.set(name, ways);
    return at;
  }
}

/** Those that say something; undefined for what is no object. */
function argumentsOf(sent: Json | undefined): Arguments | undefined {
  const value = typeof sent === 'string' ? parseJson(sent) : sent;
  if (!isObject(value)) return undefined;
  const given: Arguments = { keys: [], values: [] };
  for (const key in value) {
    const one = value[key] ?? null;
    if (typeof one === 'string' && one.trim() === '') continue;
    given.keys.push(key);
    given.values.push(one);
  }
  return given;
}

function valuePlace(value: Json, rendered: string, behind: number): number | undefined {
  const beginning =
    typeof value === 'object' && value !== null ? [JSON.stringify(value).slice(0, 1)] : spellings(value);
  for (const text of beginning) {
    const place = rendered.slice(behind, behind + valueReach + text.length).indexOf(text);
    if (place >= 0) return behind + place;
  }
  return undefined;
}

/** Where a value ends that begins at the place; undefined if another does. */
function valueEnd(value: Json, rendered: string, at: number): number | undefined {
  if (typeof value === 'object' && value !== null) return spacedEnd(JSON.stringify(value), 0, rendered, at);
  const there = spellings(value).find((text) => standsAt(rendered, text, at));
  return there === undefined ? undefined : at + there.length;
}

/** Of JSON and of Python. */
function spellings(value: Exclude<Json, object>): readonly string[] {
  if (typeof value === 'string') return [trimmed(value)];
  if (typeof value === 'number') return [String(value)];
  return value === null ? ['null', 'None'] : value ? ['true', 'True'] : ['false', 'False'];
}
