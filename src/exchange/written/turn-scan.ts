/**
 * Looks for beginnings of turns in a reply's text while it streams by. Keeps a few hundred characters at most, and of what
 * it has found only where and what, never the text around it.
 */
import type { TurnForm, TurnMark } from './turn-marks.ts';

export interface TurnSighting {
  readonly role: string;
  readonly form: TurnForm;
  /** Characters (UTF-16 units) of the reply in front of it. */
  readonly at: number;
  /** Words between the sighting before it, or the reply's start, and this one. */
  readonly words: number;
}

export interface TurnSightings {
  /** The first ones, in order. */
  readonly seen: readonly TurnSighting[];
  /** Words after the last one. */
  readonly wordsAfter: number;
}

export interface TurnPattern {
  readonly marks: readonly TurnMark[];
  readonly regex: RegExp;
  readonly longest: number;
}

/** Undefined if there is nothing to look for. */
export function compileTurnMarks(marks: readonly TurnMark[]): TurnPattern | undefined {
  if (marks.length === 0) return undefined;
  const texts = [...marks.map(({ text }) => text), fence].toSorted((a, b) => b.length - a.length);
  return {
    marks,
    regex: new RegExp(
      texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('|'),
      'g',
    ),
    longest: Math.max(...texts.map((text) => text.length)),
  };
}

const fence = '```';
const mostKept = 16;
/** Less than this is not worth a look. */
const stride = 256;

/** Where the engine drops control tokens, a header stands right behind the end of the sentence before it. */
const sentenceEnd = /[.!?:;)\]}"'*…。！？\n]/;

/** `push` any number of times, then `end` once. */
export class TurnScan {
  readonly #pattern: TurnPattern;
  readonly #seen: TurnSighting[] = [];
  /** Text that has not been looked at, because a mark may begin in it and end in what is still to come. */
  #pending = '';
  /** The character in front of `#pending`; '' at the reply's start. */
  #before = '';
  /** Length of what is in front of `#pending`. */
  #passed = 0;
  #words = 0;
  #inFence = false;

  constructor(pattern: TurnPattern) {
    this.#pattern = pattern;
  }

  push(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= this.#pattern.longest + stride) this.#look(this.#pattern.longest - 1);
  }

  end(): TurnSightings {
    this.#look(0);
    return { seen: this.#seen, wordsAfter: this.#words };
  }

  /** @param rest so many characters at the end are left for the next look */
  #look(rest: number): void {
    const text = this.#pending;
    const limit = text.length - rest;
    let from = 0;
    const { regex } = this.#pattern;
    regex.lastIndex = 0;
    for (let found = regex.exec(text); found !== null && found.index < limit; found = regex.exec(text)) {
      this.#pass(text.slice(from, found.index));
      this.#note(found[0]);
      from = found.index + found[0].length;
    }
    const end = Math.max(from, limit);
    this.#pass(text.slice(from, end));
    this.#pending = text.slice(end);
  }

  #note(text: string): void {
    const mark = this.#pattern.marks.find((one) => one.text === text);
    if (mark === undefined) this.#inFence = !this.#inFence;
    const counts = mark !== undefined && !this.#inFence && this.#isPlace(mark.form);
    const at = this.#passed;
    const words = this.#words;
    this.#pass(text);
    if (!counts) return;
    // Of more only the last words matter.
    if (this.#seen.length < mostKept) this.#seen.push({ role: mark.role, form: mark.form, at, words });
    this.#words = 0;
  }

  #isPlace(form: TurnForm): boolean {
    if (this.#before === '' || this.#before === '\n') return true;
    if (form === 'header') return sentenceEnd.test(this.#before);
    return form === 'marker' && this.#before !== '`';
  }

  #pass(text: string): void {
    if (text === '') return;
    const begun = text.match(/\S+/g)?.length ?? 0;
    const continues = begun > 0 && /^\S/.test(text) && /\S$/.test(this.#before);
    this.#words += continues ? begun - 1 : begun;
    this.#passed += text.length;
    this.#before = text.slice(-1);
  }
}
