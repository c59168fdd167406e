/**
 * Looking for one thing after another in a text that most likely holds them in that order: the next one is tried near the
 * place behind the last before the whole text is read.
 */
import type { FormWriting } from './form-writing.ts';
import { findWritten } from './written-forms.ts';

/** What a template writes between two parts of a tool is shorter. */
const reach = 1024;

export class OrderedSearch {
  readonly text: string;
  #next: number;

  /** @param next where the first thing is expected */
  constructor(text: string, next = 0) {
    this.text = text;
    this.#next = next;
  }

  /**
   * True if the text stands anywhere in it, in one of its forms.
   * @param seen how this template writes such texts
   * @param length of the whole, where it is but a beginning: what comes next is expected behind all of it
   */
  holds(text: string, seen: readonly FormWriting[], length = 0): boolean {
    const given = text.trim();
    const near = this.text.slice(this.#next, this.#next + reach).indexOf(given);
    const start = near < 0 ? findWritten(given, this.text, seen)?.start : this.#next + near;
    if (start === undefined) return false;
    this.#next = start + Math.max(length, given.length);
    return true;
  }
}
