/** Digests of a text's lines, with and without what clocks and calendars write in them. Keeps no text. */
import { LRUCache } from 'lru-cache';
import type { LineDigests } from '../exchange/session-match.ts';
import { attributionPrefix } from '../exchange/request/system-text.ts';
import { keyedDigest } from '../tokens/digest.ts';
import { maskDates, maskTimes } from './masking.ts';

/** Lines beyond these are digested as one. */
const maxLines = 4096;
const sketchSize = 32;
const rememberedTexts = 128;

/**
 * Digests texts, and remembers the digests of the last ones by the text's own digest: a system prompt comes again with
 * every turn.
 */
export class LineDigester {
  readonly #key: Uint8Array;
  readonly #seed: number;
  readonly #remembered = new LRUCache<string, LineDigests>({ max: rememberedTexts });

  /** @param key random per process, at least 4 bytes. */
  constructor(key: Uint8Array) {
    this.#key = key;
    this.#seed = key.subarray(0, 4).reduce((seed, byte) => (seed * 256 + byte) >>> 0, 0);
  }

  digest(text: string): LineDigests {
    const name = keyedDigest(this.#key, 'text', text);
    const known = this.#remembered.get(name);
    if (known !== undefined) return known;
    const digests = this.#digestLines(splitLines(text));
    this.#remembered.set(name, digests);
    return digests;
  }

  #digestLines(texts: readonly string[]): LineDigests {
    const words = new Set<number>();
    const lines: string[] = [];
    const timeMasked: string[] = [];
    const dateMasked: string[] = [];
    const attributionLines: number[] = [];
    for (const [index, text] of texts.entries()) {
      const withoutTimes = maskTimes(text);
      const withoutDates = maskDates(withoutTimes);
      const line = this.#line(text);
      const timeless = withoutTimes === text ? line : this.#line(withoutTimes);
      lines.push(line);
      timeMasked.push(timeless);
      dateMasked.push(withoutDates === withoutTimes ? timeless : this.#line(withoutDates));
      if (text.startsWith(attributionPrefix)) attributionLines.push(index);
      else for (const word of wordsOf(withoutDates)) words.add(wordHash(word, this.#seed));
    }
    const wordSketch = [...words].toSorted((a, b) => a - b).slice(0, sketchSize);
    return { lines, timeMasked, dateMasked, attributionLines, wordSketch };
  }

  #line(text: string): string {
    return keyedDigest(this.#key, 'line', text);
  }
}

/** Scripts that write no space between words: there two characters together are what tells one text from another. */
const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]+/gu;
const mayBeUnspaced = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff]|[\ud800-\udbff]/;

function wordsOf(text: string): readonly string[] {
  const spaced = mayBeUnspaced.test(text) ? text.replaceAll(unspaced, pairsOf) : text;
  return spaced.split(/\s+/).filter((word) => word !== '');
}

function pairsOf(run: string): string {
  const characters = Array.from(run);
  const pairs = characters.slice(1).map((character, index) => (characters[index] ?? '') + character);
  return ` ${pairs.length === 0 ? run : pairs.join(' ')} `;
}

/** The lines that a digest counts: the same split finds a digest's line in the text again. */
function splitLines(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.length <= maxLines
    ? lines
    : [...lines.slice(0, maxLines - 1), lines.slice(maxLines - 1).join('\n')];
}

/** True if two texts differ at most in times, dates and attribution lines. */
export function sameButForClocks(a: LineDigests, b: LineDigests): boolean {
  const lasting = ({ dateMasked, attributionLines }: LineDigests): string =>
    dateMasked.filter((_, index) => !attributionLines.includes(index)).join();
  return lasting(a) === lasting(b);
}

/**
 * Share of words that two texts have in common, 0 to 1 (Jaccard, estimated from their sketches; exact for texts of few
 * words). 1 if both are without words.
 */
export function wordSimilarity(a: LineDigests, b: LineDigests): number {
  const inB = new Set(b.wordSketch);
  const smallest = [...new Set([...a.wordSketch, ...b.wordSketch])]
    .toSorted((left, right) => left - right)
    .slice(0, sketchSize);
  if (smallest.length === 0) return 1;
  const inA = new Set(a.wordSketch);
  return smallest.filter((word) => inA.has(word) && inB.has(word)).length / smallest.length;
}

/** FNV-1a, seeded: spreads words evenly, which is all that a sketch needs. */
function wordHash(word: string, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < word.length; index += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193) >>> 0;
  }
  // FNV's high bits of short words lie close together; the sketch takes the smallest values, so they are mixed.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  return (hash ^ (hash >>> 13)) >>> 0;
}
