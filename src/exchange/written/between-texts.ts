/** Where tools are looked for: all of a prompt that is no text of a message, with the places of calls or without them. */
import { outside } from './text-ranges.ts';
import type { Found } from './written-forms.ts';

/** A text to look in, and which places in it count. */
export interface Searched {
  readonly text: string;
  readonly counts: (at: number, length: number) => boolean;
}

export class BetweenTexts {
  /** The whole prompt. */
  readonly rendered: string;
  /** The texts, in order; they may overlap. */
  readonly #texts: readonly Found[];
  readonly #calls: readonly Found[];
  #all: string | undefined;

  constructor(rendered: string, texts: readonly Found[], calls: readonly Found[] = []) {
    this.rendered = rendered;
    this.#texts = texts;
    // Where no text shows what stands before a call, its place may reach over the tools.
    this.#calls = calls.filter(({ start }) => start > 0);
  }

  /** What is between the texts, put together. A prompt may be long, and is only copied if this is asked for. */
  get all(): string {
    this.#all ??= outside(this.rendered, this.#texts);
    return this.#all;
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** The prompt itself where little of it is left out, else what is left of it. */
  searched(): Searched {
    return isLittle(this.#texts, this.rendered)
      ? { text: this.rendered, counts: outsideOf(this.#texts) }
      : { text: this.all, counts: () => true };
  }

  searchedWithoutCalls(): Searched {
    if (!this.hasCalls) return this.searched();
    const both = [...this.#texts, ...this.#calls].toSorted((a, b) => a.start - b.start);
    return { text: outside(this.rendered, both), counts: () => true };
  }

  /** A part of what was searched, without the texts in it. */
  part({ text }: Searched, start: number, end: number): string {
    const within =
      text === this.rendered ? this.#texts.filter((one) => one.start < end && one.end > start) : [];
    if (within.length === 0) return text.slice(start, end);
    const inPart = (at: number): number => Math.min(Math.max(at - start, 0), end - start);
    return outside(
      text.slice(start, end),
      within.map((one) => ({ start: inPart(one.start), end: inPart(one.end) })),
    );
  }
}

/** So few are gone through at each place. */
const fewRanges = 16;

function isLittle(ranges: readonly Found[], text: string): boolean {
  if (ranges.length > fewRanges) return false;
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0) * 2 < text.length;
}

function outsideOf(ranges: readonly Found[]): Searched['counts'] {
  return (at, length) => ranges.every(({ start, end }) => at + length <= start || at >= end);
}
