/** Where the calls of a conversation stand, while its texts are met in order: a gap is open until a text behind it closes it. */
import type { CallGap } from './lost-calls.ts';
import { callsOf, type CallPart } from './call-parts.ts';
import { overlapping } from './text-ranges.ts';
import { standsInCalls } from './told-calls.ts';
import type { ChatMessage } from '../request/request.ts';
import type { Found } from './written-forms.ts';

interface OpenGap extends CallGap {
  end: number;
  calls: readonly CallPart[];
  own: readonly Found[];
  readonly covered: string[];
  /** The texts of its message, if it is asked for. */
  readonly texts: () => readonly Found[];
}

const none: readonly never[] = [];

export class OpenGaps {
  readonly #messages: readonly ChatMessage[];
  readonly #rendered: string;
  readonly #gaps: OpenGap[] = [];
  #open: OpenGap[] = [];

  constructor(messages: readonly ChatMessage[], rendered: string) {
    this.#messages = messages;
    this.#rendered = rendered;
  }

  /** True if there are calls that were not met as they were sent. */
  get hasUnmet(): boolean {
    return this.#gaps.some(({ calls }) => calls.length > 0);
  }

  /**
   * @param message index of the message
   * @param start behind the last longer text of a message before
   * @param texts tells the places of the message's own: most gaps are never asked for them
   * @param calls those that were not met as they were sent
   */
  open(message: number, start: number, texts: () => readonly Found[], calls: readonly CallPart[]): void {
    const end = this.#rendered.length;
    const gap: OpenGap = { message, start, end, calls: none, own: none, covered: [], texts };
    if (calls.length > 0) this.#lookFor(calls, gap);
    this.#gaps.push(gap);
    this.#open.push(gap);
  }

  /** A text of the message's own that a call may say, too, does not stand for itself alone. */
  #lookFor(calls: readonly CallPart[], gap: OpenGap): void {
    const own: Found[] = [];
    for (const range of gap.texts()) {
      const text = this.#rendered.slice(range.start, range.end);
      if (standsInCalls(text, calls)) gap.covered.push(text);
      else own.push(range);
    }
    gap.calls = calls;
    gap.own = own;
  }

  /** By a longer text of a later message, unless a call may say the same. @param message index of the text's */
  close(at: number, text: string, message: number): void {
    if (this.#open.length === 0) return;
    this.#open = this.#open.filter((gap) => {
      if (gap.message >= message) return true;
      const isCovered = gap.calls.length > 0 && standsInCalls(text, gap.calls);
      if (isCovered) gap.covered.push(text);
      else gap.end = Math.max(gap.start, at);
      return isCovered;
    });
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
