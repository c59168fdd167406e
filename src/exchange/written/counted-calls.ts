/**
 * Calls that stand in one piece of a prompt, told apart by how often each of their texts stands there: as often as calls need
 * it, or too seldom. Which call a text that is there too seldom is missing of is not known for sure; the later one is named.
 */
import type { FormWriting } from './form-writing.ts';
import { namePlace, standsAlone } from './name-place.ts';
import type { CallPart } from './call-parts.ts';
import type { ReadingBudget } from './reading-budget.ts';
import { standsAt } from './text-place.ts';
import type { ToldCall, ToldText } from './told-calls.ts';
import { findWritten, isPlain, type Found } from './written-forms.ts';

export interface LostAmong {
  readonly call: CallPart;
  readonly what: 'call' | 'call-arguments' | 'arguments-cut';
}

const number = /^-?\d+$/;

/** A number is a part of many longer ones. */
export function findTold(text: string, where: string, writings: readonly FormWriting[]): Found | undefined {
  if (!number.test(text)) return findWritten(text, where, writings);
  const start = namePlace(where, text);
  return start < 0 ? undefined : { start, end: start + text.length };
}

/** How often a text stands there, where it does first, and where it does for the last time. */
interface Count {
  readonly times: number;
  readonly start: number;
  readonly end: number;
}

const unknown: Count = { times: Infinity, start: 0, end: 0 };

/** What is missing is read for so often: in each form, and by its words. */
const readsOfMissing = 4;

export class CountedCalls {
  readonly #calls: readonly ToldCall[];
  readonly #text: string;
  readonly #writings: readonly FormWriting[];
  readonly #budget: ReadingBudget;
  readonly #keepsPlain: boolean;
  /** What each call is told by. */
  readonly #told: (readonly string[])[];
  /** The whole of what is told by its beginning. */
  readonly #whole = new Map<string, Set<string>>();
  /** How often each text must be there. */
  readonly #needed = new Map<string, number>();
  readonly #counts = new Map<string, Count>();
  #words: ReadonlyMap<string, number> | undefined;

  /** @param budget where it is spent, what was not found by then counts as there */
  constructor(
    calls: readonly ToldCall[],
    text: string,
    writings: readonly FormWriting[],
    budget: ReadingBudget,
  ) {
    this.#calls = calls;
    this.#text = text;
    this.#writings = writings;
    this.#budget = budget;
    this.#keepsPlain = writings.every((form) => form.keepsPlain);
    this.#told = calls.map(({ texts }) => this.#keep(texts));
    for (const [index, { call, texts }] of calls.entries()) {
      const told = this.#told[index] ?? [];
      const { sent } = call;
      if (texts.length === 0 || sent === undefined) continue;
      // As it was sent it may hold escapes that no form has.
      if (!told.some((one) => this.#countOf(one).times === 0) || !this.#isThere(sent)) continue;
      this.#need(told, -1);
      this.#told[index] = this.#keep([{ given: sent, text: sent }]);
    }
  }

  lost(): LostAmong[] {
    const backwards = [...this.#told.entries()].filter(([, told]) => told.length > 0).toReversed();
    const gone = new Set<number>();
    // A text that is nowhere shows which calls it is of; one that is there too seldom may be of any.
    for (const isSure of [true, false]) {
      for (const [index, told] of backwards) {
        if (gone.has(index) || !told.every((one) => this.#isMissing(one))) continue;
        if (isSure && !told.some((one) => this.#countOf(one).times === 0)) continue;
        gone.add(index);
        this.#need(told, -1);
      }
    }
    const cut = new Set<number>();
    for (const isSure of [true, false]) {
      for (const [index, told] of backwards) {
        if (gone.has(index)) continue;
        const missing = told.filter(
          (one) => this.#isMissing(one) && (!isSure || this.#countOf(one).times === 0),
        );
        this.#need(missing, -1);
        // A template may write values alone.
        if ((missing.length > 0 && this.#calls[index]?.byKeys === false) || (isSure && this.#lacksEnd(index)))
          cut.add(index);
      }
    }
    const unnamed = this.#unnamed(gone);
    return this.#calls.flatMap(({ call, texts, byKeys }, index): LostAmong[] => {
      if (cut.has(index)) return [{ call, what: 'arguments-cut' }];
      const isBare = texts.length === 0;
      if (!isBare && !gone.has(index)) return [];
      if (unnamed.has(index)) return [{ call, what: 'call' }];
      return isBare || byKeys ? [] : [{ call, what: 'call-arguments' }];
    });
  }

  #keep(texts: readonly ToldText[]): readonly string[] {
    for (const { given, text } of texts) {
      const whole = this.#whole.get(text) ?? new Set();
      this.#whole.set(text, whole.add(given.trim()));
    }
    const told = texts.map(({ text }) => text);
    this.#need(told, 1);
    return told;
  }

  #need(told: readonly string[], more: number): void {
    for (const text of told) this.#needed.set(text, (this.#needed.get(text) ?? 0) + more);
  }

  #isMissing(text: string): boolean {
    return this.#countOf(text).times < (this.#needed.get(text) ?? 0);
  }

  #isThere(text: string): boolean {
    return (
      this.#budget.spend(this.#text.length) && findWritten(text, this.#text, this.#writings) !== undefined
    );
  }

  /** Up to as often as it is needed. */
  #countOf(text: string): Count {
    const known = this.#counts.get(text);
    if (known !== undefined) return known;
    if (this.#budget.isSpent) return unknown;
    const needed = this.#needed.get(text) ?? 0;
    let count: Count = { times: 0, start: 0, end: 0 };
    while (count.times < needed) {
      const found = findTold(text, this.#text.slice(count.end), this.#writings);
      if (found === undefined) break;
      count = {
        times: count.times + 1,
        start: count.times === 0 ? found.start : count.start,
        end: this.#endOf(text, count.end + found.start, count.end + found.end),
      };
    }
    const reads = count.times < needed ? readsOfMissing : 1;
    if (!this.#budget.spend(this.#text.length * reads) || (count.times === 0 && this.#mayBeThere(text)))
      count = unknown;
    this.#counts.set(text, count);
    return count;
  }

  /** Of the whole that begins there, so that what it holds of itself once more is not counted. */
  #endOf(text: string, start: number, least: number): number {
    for (const given of this.#whole.get(text) ?? []) {
      if (given.length === text.length) continue;
      for (const form of [given, JSON.stringify(given).slice(1, -1)]) {
        if (standsAt(this.#text, form, start)) return start + form.length;
      }
    }
    return least;
  }

  /** True for a text that may stand there in a form that is not known: by words that no other text of the calls has. */
  #mayBeThere(text: string): boolean {
    if (this.#keepsPlain && isPlain(text.trim())) return false;
    const words = wordsOf(text);
    const own = words.filter((word) => this.#timesOfWords().get(word) === 1);
    return words.length > 0 && (own.length === 0 || own.some((word) => this.#text.includes(word)));
  }

  #timesOfWords(): ReadonlyMap<string, number> {
    if (this.#words !== undefined) return this.#words;
    const times = new Map<string, number>();
    for (const text of this.#needed.keys()) {
      for (const word of new Set(wordsOf(text))) times.set(word, (times.get(word) ?? 0) + 1);
    }
    this.#words = times;
    return times;
  }

  /** True for a call with a longer text of which only the beginning is there. */
  #lacksEnd(index: number): boolean {
    const told = this.#calls[index];
    if (told === undefined || !this.#keepsPlain || this.#told[index]?.[0] === told.call.sent) return false;
    return told.texts.some(
      ({ tail }) => tail !== undefined && this.#budget.spend(this.#text.length) && !this.#text.includes(tail),
    );
  }

  /** Those that are gone, or have nothing but a name, and whose names stand there less often than calls have them. */
  #unnamed(gone: ReadonlySet<number>): ReadonlySet<number> {
    // Where the arguments of some calls are there, names behind them all may be those of results.
    let end = 0;
    const kept = new Map<string, number>();
    for (const [index, { call, texts }] of this.#calls.entries()) {
      if (gone.has(index)) continue;
      for (const text of this.#told[index] ?? []) end = Math.max(end, this.#countOf(text).end);
      if (texts.length > 0) kept.set(call.name, (kept.get(call.name) ?? 0) + 1);
    }
    const whole = this.#text.length;
    const start = gone.has(0) ? 0 : this.#firstCall();
    const tallies = { gone: new Map<string, number>(), bare: new Map<string, number>() };
    const unnamed = new Set<number>();
    for (const [index, { call, texts }] of this.#calls.entries()) {
      const isBare = texts.length === 0;
      if (!isBare && !gone.has(index)) continue;
      const tally = isBare ? tallies.bare : tallies.gone;
      const until = isBare || end === 0 ? whole : end;
      const left =
        tally.get(call.name) ?? this.#timesOfName(call.name, start, until) - (kept.get(call.name) ?? 0);
      tally.set(call.name, left - 1);
      if (left <= 0) unnamed.add(index);
    }
    return unnamed;
  }

  /** Where the first call begins, which is there; 0 where that can't be told. Names before it are those of tools. */
  #firstCall(): number {
    const [first] = this.#calls;
    const places = (this.#told[0] ?? []).map((text) => this.#countOf(text).start);
    const start = places.length === 0 ? 0 : Math.min(...places);
    if (first === undefined || start === 0 || !this.#budget.spend(start)) return 0;
    const { name } = first.call;
    let at = this.#text.lastIndexOf(name, start);
    while (at > 0 && !standsAlone(this.#text, at, name.length)) at = this.#text.lastIndexOf(name, at - 1);
    return Math.max(0, at);
  }

  #timesOfName(name: string, start: number, end: number): number {
    if (!this.#budget.spend(end)) return Infinity;
    let times = 0;
    for (
      let at = this.#text.indexOf(name, start);
      at >= 0 && at < end;
      at = this.#text.indexOf(name, at + 1)
    ) {
      if (standsAlone(this.#text, at, name.length)) times += 1;
    }
    return times;
  }
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[A-Za-z0-9]{3,}/g) ?? [];
}
