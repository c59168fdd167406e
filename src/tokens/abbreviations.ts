/**
 * The ids of prompts whose long texts an engine was sent abbreviated: it renders and tokenizes little, and each segment
 * that holds an abbreviation is replaced by the ids that the engine itself made of that segment when the text was whole.
 * Learnt from pairs of its own answers, and kept by its ids: no text is kept, and nothing is guessed of a template.
 */
import { LRUCache } from 'lru-cache';

import { cutIdsAtMarkers, type MarkerIds } from './markers.ts';

/** As for the segment cache: what an entry takes beside its ids and its key. */
const entryOverheadBytes = 360;

interface Pair {
  readonly abbreviated: Uint32Array;
  readonly whole: Uint32Array;
}

/** `contradicts`: the same abbreviated segment stood for other ids before, so a template looks into texts. */
export type Learning = 'learnt' | 'not-alike' | 'contradicts';

export class Abbreviations {
  /** By scope and the abbreviated segment's ids. */
  readonly #segments: LRUCache<string, Uint32Array>;
  /** Words that stand for a text, by scope: those that some segment was learnt with. */
  readonly #words: LRUCache<string, true>;

  constructor(maxBytes: number) {
    this.#segments = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (ids, key) => ids.byteLength + 2 * key.length + entryOverheadBytes,
    });
    this.#words = new LRUCache({ max: Math.max(1, Math.ceil(maxBytes / entryOverheadBytes / 4)) });
  }

  knows(scope: string, word: string): boolean {
    return this.#words.has(`${scope}\n${word}`);
  }

  /**
   * @param whole the ids of a prompt, @param abbreviated those of the same prompt with so many texts abbreviated
   * @returns `not-alike` where not each abbreviated text changed exactly one segment: then nothing is learnt, and the words
   * are not known any more
   */
  learn(
    scope: string,
    markerIds: MarkerIds,
    { whole, abbreviated }: Pair,
    words: readonly string[],
  ): Learning {
    const wholes = cutIdsAtMarkers(whole, markerIds);
    const shorts = cutIdsAtMarkers(abbreviated, markerIds);
    const notAlike = (): Learning => {
      for (const word of words) this.#words.delete(`${scope}\n${word}`);
      return 'not-alike';
    };
    if (wholes.length !== shorts.length) return notAlike();
    const changed = shorts.flatMap((short, index) => {
      const long = wholes[index];
      return long === undefined || same(short, long) ? [] : [{ key: keyOf(scope, short), long }];
    });
    if (changed.length !== words.length) return notAlike();
    for (const { key, long } of changed) {
      const before = this.#segments.get(key);
      if (before !== undefined && !same(before, long)) return 'contradicts';
      if (before === undefined) this.#segments.set(key, long.slice());
    }
    for (const word of words) this.#words.set(`${scope}\n${word}`, true);
    return 'learnt';
  }

  /** The whole prompt's ids; undefined unless exactly so many segments are abbreviated ones that are known. */
  expand(
    scope: string,
    markerIds: MarkerIds,
    abbreviated: Uint32Array,
    texts: number,
  ): Uint32Array | undefined {
    let found = 0;
    const parts = cutIdsAtMarkers(abbreviated, markerIds).map((short) => {
      const long = this.#segments.get(keyOf(scope, short));
      if (long !== undefined) found += 1;
      return long ?? short;
    });
    return found === texts ? joined(parts) : undefined;
  }
}

function keyOf(scope: string, ids: Uint32Array): string {
  return `${scope}\n${Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength).toString('latin1')}`;
}

function same(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
