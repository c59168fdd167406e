/**
 * Finds many texts in a long one by one pass over it (Rabin and Karp's search): a hash that goes along with the text says
 * where one of them may begin, however many they are and however much they look like the text.
 */
import type { ReadingBudget } from './reading-budget.ts';

/** Texts are told by so many first characters, or by fewer where they are shorter; each width takes a pass of its own. */
const widths = [16, 8, 4, 2, 1] as const;

/** Tells each place of each of the texts, unless the budget ends before. @param needles none is empty */
export function eachPlace(
  text: string,
  needles: Iterable<string>,
  budget: ReadingBudget,
  visit: (needle: string, at: number) => void,
): void {
  const groups = new Map<number, Beginnings>();
  for (const needle of needles) {
    const width = widths.find((one) => one <= needle.length) ?? 1;
    const group = groups.get(width) ?? new Beginnings(width);
    group.add(needle);
    groups.set(width, group);
  }
  for (const group of groups.values()) {
    if (!budget.spend(text.length)) return;
    group.pass(text, budget, visit);
  }
}

/** So many characters are copied out of the text at a time: numbers in a row are read much faster than a string's. */
const stretch = 32_768;
/** Odd, and its bits are well mixed: the hash's upper half tells as much as the whole. */
const base = 0x9e3779b1;

class Beginnings {
  readonly #width: number;
  /** What a character counts when it leaves the hash. */
  readonly #gone: number;
  /** 1 for the upper halves of the hashes that there are. */
  readonly #halves = new Uint8Array(65_536);
  readonly #byHash = new Map<number, { readonly lengths: Set<number>; readonly whole: Set<string> }>();

  constructor(width: number) {
    this.#width = width;
    this.#gone = Array.from({ length: width }).reduce<number>((power) => Math.imul(power, base), 1);
  }

  add(needle: string): void {
    const hash = this.#hashOf(Uint16Array.from({ length: this.#width }, (_, at) => needle.charCodeAt(at)));
    const same = this.#byHash.get(hash) ?? { lengths: new Set<number>(), whole: new Set<string>() };
    same.lengths.add(needle.length);
    same.whole.add(needle);
    this.#byHash.set(hash, same);
    this.#halves[hash >>> 16] = 1;
  }

  pass(text: string, budget: ReadingBudget, visit: (needle: string, at: number) => void): void {
    const width = this.#width;
    const gone = this.#gone;
    const halves = this.#halves;
    const codes = new Uint16Array(stretch + width);
    const bytes = Buffer.from(codes.buffer);
    for (let start = 0; start + width <= text.length; start += stretch) {
      const last = bytes.write(text.slice(start, start + stretch + width - 1), 'utf16le') / 2 - width;
      let hash = this.#hashOf(codes);
      for (let at = 0; ; at += 1) {
        if (halves[hash >>> 16] === 1 && !this.#tell(hash, text, start + at, budget, visit)) return;
        if (at === last) break;
        hash = (Math.imul(hash, base) + (codes[at + width] ?? 0) - Math.imul(codes[at] ?? 0, gone)) | 0;
      }
    }
  }

  /** False if the budget has ended. */
  #tell(
    hash: number,
    text: string,
    at: number,
    budget: ReadingBudget,
    visit: (needle: string, at: number) => void,
  ): boolean {
    const same = this.#byHash.get(hash);
    if (same === undefined) return true;
    for (const length of same.lengths) {
      if (!budget.compare(length)) return false;
      const found = text.slice(at, at + length);
      // At the text's end it may be another's beginning.
      if (found.length === length && same.whole.has(found)) visit(found, at);
    }
    return true;
  }

  /** Of the first of them. */
  #hashOf(codes: ArrayLike<number>): number {
    let hash = 0;
    for (let at = 0; at < this.#width; at += 1) hash = (Math.imul(hash, base) + (codes[at] ?? 0)) | 0;
    return hash;
  }
}
