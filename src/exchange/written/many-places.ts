/**
 * Finds many texts in a long one by looking at samples of it: a text that is longer than the way from one sample to the
 * next holds one wherever it stands, and what the sample says tells which text that may be, however many there are.
 */
import type { ReadingBudget } from './reading-budget.ts';

/**
 * Texts are looked for by samples of so many characters, at each place that the step divides. Wide samples tell texts of the
 * same words apart; the shorter the texts, the closer samples must lie.
 */
interface Sampling {
  readonly width: number;
  readonly step: number;
}

const samplings: readonly Sampling[] = [
  { width: 24, step: 16 },
  { width: 16, step: 8 },
  { width: 12, step: 4 },
  { width: 8, step: 4 },
  { width: 4, step: 4 },
  { width: 4, step: 3 },
  { width: 4, step: 2 },
  { width: 4, step: 1 },
  { width: 2, step: 1 },
  { width: 1, step: 1 },
];

type Visit = (needle: string, at: number) => void;

/**
 * Tells each place of each of the texts, those of one text in order, unless the budget ends before.
 * @param needles none is empty
 */
export function eachPlace(
  text: string,
  needles: Iterable<string>,
  budget: ReadingBudget,
  visit: Visit,
): void {
  const groups = new Map<number, Group>();
  for (const needle of needles) {
    const sampling = samplings.find(({ width, step }) => needle.length >= width + step - 1);
    if (sampling === undefined) continue;
    const { width, step } = sampling;
    const group = groups.get(width);
    if (group === undefined) groups.set(width, { step, texts: new Set([needle]) });
    else {
      group.texts.add(needle);
      group.step = Math.min(group.step, step);
    }
  }
  for (const [width, { step, texts }] of groups) {
    if (!budget.spend(Math.ceil(text.length / step))) return;
    new Samples({ width, step }, [...texts]).pass(text, budget, visit);
  }
}

/** Texts that are looked for in one pass. */
interface Group {
  /** What the shortest of them needs. */
  step: number;
  readonly texts: Set<string>;
}

/**
 * So many characters are copied out of the text at a time, their low bytes: those are read much faster than a string's. Each
 * step divides it, so that samples lie as close where two copies meet.
 */
const stretch = 16_368;
/** Odd, and its bits are well mixed: the upper bits of a product tell as much as the whole. */
const mixer = 0x9e3779b1;
/** Bits of the filter for each sample of a sought text, so that few others come to one that is set; all fit in a fast cache. */
const spare = 16;
const leastBits = 14;
const mostBits = 18;

/** So many characters around a sample are there to be read, too. */
const margin = 64;

/** Texts of one length that hold the same sample at the same place. */
interface Alike {
  readonly shift: number;
  readonly length: number;
  readonly texts: Set<string>;
  /** Where, from the sample's beginning, four more characters of the first text stand, and what they are. */
  readonly beside: number;
  readonly four: number | undefined;
}

/** For a sample that comes to the slot of another. */
const none: readonly Alike[] = [];

class Samples {
  readonly #sampling: Sampling;
  readonly #needles: readonly string[];
  readonly #bytes: Buffer;
  readonly #view: DataView;
  /** Bits of a hash that are no part of a place in the filter. */
  readonly #unused: number;
  /** A bit for the upper part of each sample's hash. */
  readonly #filter: Int32Array;
  /** Bits of a hash that are no part of a slot's number. */
  readonly #unslotted: number;
  /** By slot the number of a sample that comes to it, counted from 1; 0 where there is none. */
  readonly #slots: Int32Array;
  /** By a sample's number its hash, and the next sample that comes to the same slot. */
  readonly #hashes: Int32Array;
  readonly #others: Int32Array;
  /** What the samples of a hash stand for, by the first one's number; put together when the text first holds one. */
  readonly #alike = new Map<number, readonly Alike[]>();

  constructor(sampling: Sampling, needles: readonly string[]) {
    const { width, step } = sampling;
    this.#sampling = sampling;
    this.#needles = needles;
    this.#bytes = Buffer.alloc(stretch + width + margin * 2);
    const { buffer, byteOffset, byteLength } = this.#bytes;
    this.#view = new DataView(buffer, byteOffset, byteLength);
    const count = needles.length * step;
    const bits = Math.max(leastBits, Math.min(mostBits, Math.ceil(Math.log2(count * spare))));
    this.#unused = 32 - bits;
    this.#unslotted = Math.min(31, 32 - bits + 2);
    this.#filter = new Int32Array(1 << (bits - 5));
    this.#slots = new Int32Array(1 << (32 - this.#unslotted));
    this.#hashes = new Int32Array(count + 1);
    this.#others = new Int32Array(count + 1);
    let sample = 0;
    for (const needle of needles) {
      this.#bytes.write(needle.slice(0, width + step - 1), 'latin1');
      for (let shift = 0; shift < step; shift += 1) {
        sample += 1;
        const hash = hashAt(this.#view, shift, width);
        const place = hash >>> this.#unused;
        const slot = hash >>> this.#unslotted;
        this.#filter[place >>> 5] = (this.#filter[place >>> 5] ?? 0) | (1 << (place & 31));
        this.#hashes[sample] = hash;
        this.#others[sample] = this.#slots[slot] ?? 0;
        this.#slots[slot] = sample;
      }
    }
  }

  pass(text: string, budget: ReadingBudget, visit: Visit): void {
    const { width, step } = this.#sampling;
    for (let start = 0; start + width <= text.length; start += stretch) {
      this.#copy(text, start);
      const last = Math.min(stretch - step, text.length - start - width);
      for (let at = this.#next(0, last); at <= last; at = this.#next(at + step, last)) {
        if (!this.#tell(text, start, at, budget, visit)) return;
      }
    }
  }

  /** The next sample that is likely one of a sought text's. Short, and asked often, so that it is compiled as a whole. */
  #next(from: number, last: number): number {
    const { width, step } = this.#sampling;
    const view = this.#view;
    const filter = this.#filter;
    const unused = this.#unused;
    for (let at = from; at <= last; at += step) {
      const place = hashAt(view, margin + at, width) >>> unused;
      if (((filter[place >>> 5] ?? 0) >>> (place & 31)) % 2 === 1) return at;
    }
    return last + step;
  }

  #copy(text: string, start: number): void {
    const before = Math.min(start, margin);
    const width = this.#sampling.width;
    this.#bytes.write(
      text.slice(start - before, start + stretch + width + margin),
      margin - before,
      'latin1',
    );
  }

  /** False if the budget has ended. @param at of the sample, from the copy's start on */
  #tell(text: string, start: number, at: number, budget: ReadingBudget, visit: Visit): boolean {
    const hash = hashAt(this.#view, margin + at, this.#sampling.width);
    for (const { shift, length, texts, beside, four } of this.#alikeOf(hash)) {
      const from = start + at - shift;
      if (from < 0) continue;
      if (!budget.compare(length)) return false;
      const isOne = four !== undefined && texts.size === 1;
      if (isOne && this.#view.getInt32(margin + at + beside, true) !== four) continue;
      const found = text.slice(from, from + length);
      // At the text's end it may be another's beginning.
      if (found.length === length && texts.has(found)) visit(found, from);
    }
    return true;
  }

  /** In the order of the places that they stand for: the farther the sample is in a text, the earlier the text begins. */
  #alikeOf(hash: number): readonly Alike[] {
    const { step } = this.#sampling;
    let sample = this.#slots[hash >>> this.#unslotted] ?? 0;
    while (sample !== 0 && this.#hashes[sample] !== hash) sample = this.#others[sample] ?? 0;
    if (sample === 0) return none;
    const known = this.#alike.get(sample);
    if (known !== undefined) return known;
    const first = sample;
    const byPlace = new Map<number, Alike>();
    for (; sample !== 0; sample = this.#others[sample] ?? 0) {
      if (this.#hashes[sample] !== hash) continue;
      const shift = (sample - 1) % step;
      const needle = this.#needles[Math.floor((sample - 1) / step)] ?? '';
      const { length } = needle;
      const alike = byPlace.get(length * step + shift);
      if (alike !== undefined) alike.texts.add(needle);
      else byPlace.set(length * step + shift, this.#alone(needle, shift));
    }
    const found = [...byPlace.values()].toSorted((a, b) => b.shift - a.shift);
    this.#alike.set(first, found);
    return found;
  }

  /** The four characters are at the end that is farther from the sample. */
  #alone(needle: string, shift: number): Alike {
    const { length } = needle;
    const behind = length - shift - this.#sampling.width;
    const place = behind < shift ? 0 : Math.max(0, Math.min(length - 4, shift + margin));
    return { shift, length, texts: new Set([needle]), beside: place - shift, four: fourAt(needle, place) };
  }
}

/** Undefined where the text has fewer. */
function fourAt(text: string, at: number): number | undefined {
  if (text.length < at + 4) return undefined;
  let four = 0;
  for (let next = at + 3; next >= at; next -= 1) four = (four << 8) | (text.charCodeAt(next) & 0xff);
  return four;
}

/** Of the sample that begins there. */
function hashAt(view: DataView, at: number, width: number): number {
  if (width === 1) return Math.imul(view.getUint8(at), mixer);
  if (width === 2) return Math.imul(view.getUint16(at, true), mixer);
  let hash = Math.imul(view.getInt32(at, true), mixer);
  if (width > 4) hash = Math.imul(hash + view.getInt32(at + 4, true), mixer);
  if (width > 8) hash = Math.imul(hash + view.getInt32(at + 8, true), mixer);
  if (width > 12) hash = Math.imul(hash + view.getInt32(at + 12, true), mixer);
  if (width > 16) hash = Math.imul(hash + view.getInt32(at + 16, true), mixer);
  if (width > 16) hash = Math.imul(hash + view.getInt32(at + 20, true), mixer);
  return hash;
}
