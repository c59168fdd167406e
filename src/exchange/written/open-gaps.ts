/** Where the calls of a conversation stand, while its texts are met in order: a gap is open until a text behind it closes it. */
import type { CallGap } from './lost-calls.ts';
import { callsOf, type CallPart } from './call-parts.ts';
import { overlapping, type Places } from './text-ranges.ts';
import { standsInCalls } from './told-calls.ts';
import type { ChatMessage } from '../request/request.ts';
import type { Found } from './written-forms.ts';

interface OpenGap extends CallGap {
  end: number;
  calls: readonly CallPart[];
  own: readonly Found[];
  covered: string[];
  /** The numbers of the places of its message's texts. */
  readonly firstOwn: number;
  readonly endOwn: number;
}

const none: readonly never[] = [];

export class OpenGaps {
  readonly #messages: readonly ChatMessage[];
  readonly #rendered: string;
  /** Of the longer texts. */
  readonly #places: Places;
  readonly #gaps: OpenGap[] = [];
  /** The first `#openCount` of these are open: most often there is one, and a list for each would be many. */
  readonly #open: OpenGap[] = [];
  #openCount = 0;

  constructor(messages: readonly ChatMessage[], rendered: string, places: Places) {
    this.#messages = messages;
    this.#rendered = rendered;
    this.#places = places;
  }

  /** True if there are calls that were not met as they were sent. */
  get hasUnmet(): boolean {
    return this.#gaps.some(({ calls }) => calls.length > 0);
  }

  /**
   * @param message index of the message
   * @param start behind the last longer text of a message before
   * @param firstOwn the number of the first place of the message's own texts, which are all that came since
   * @param calls those that were not met as they were sent
   */
  open(message: number, start: number, firstOwn: number, calls: readonly CallPart[]): void {
    const end = this.#rendered.length;
    const endOwn = this.#places.count;
    const gap: OpenGap = { message, start, end, calls: none, own: none, covered: [], firstOwn, endOwn };
    if (calls.length > 0) this.#lookFor(calls, gap);
    this.#gaps.push(gap);
    this.#open[this.#openCount] = gap;
    this.#openCount += 1;
  }

  /** A text of the message's own that a call may say, too, does not stand for itself alone. */
  #lookFor(calls: readonly CallPart[], gap: OpenGap): void {
    const own: Found[] = [];
    const covered: string[] = [];
    for (const range of this.#places.from(gap.firstOwn, gap.endOwn)) {
      const text = this.#rendered.slice(range.start, range.end);
      if (standsInCalls(text, calls)) covered.push(text);
      else own.push(range);
    }
    gap.calls = calls;
    gap.own = own;
    gap.covered = covered;
  }

  /** By a longer text of a later message, unless a call may say the same. @param message index of the text's */
  close(at: number, text: string, message: number): void {
    let left = 0;
    for (let index = 0; index < this.#openCount; index += 1) {
      const gap = this.#open[index];
      if (gap === undefined || this.#closes(gap, at, text, message)) continue;
      this.#open[left] = gap;
      left += 1;
    }
    this.#openCount = left;
  }

  #closes(gap: OpenGap, at: number, text: string, message: number): boolean {
    if (gap.message >= message) return false;
    if (gap.calls.length > 0 && standsInCalls(text, gap.calls)) {
      gap.covered.push(text);
      return false;
    }
    gap.end = Math.max(gap.start, at);
    return true;
  }

  /** Where one call has to be looked for, those that were met in the same place are, too: no place stands for two. */
  all(): readonly CallGap[] {
    if (this.#gaps.every(({ calls }) => calls.length === 0)) return this.#gaps;
    for (const region of overlapping(this.#gaps)) {
      if (region.every(({ calls }) => calls.length === 0)) continue;
      for (const gap of region) {
        const message = this.#messages[gap.message];
        if (gap.calls.length === 0 && message !== undefined) this.#lookFor(callsOf(message), gap);
      }
    }
    return this.#gaps;
  }
}
