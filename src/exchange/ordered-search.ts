/**
 * Looking for one thing after another in a text that most likely holds them in that order: the next one is tried near the
 * place behind the last before the whole text is read.
 */
import { findForm } from './written-forms.ts';

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
   * True if one of the forms stands anywhere in the text.
   * @param length of the whole, where a form is but its beginning: what comes next is expected behind all of it
   */
  holds(forms: readonly string[], length = 0): boolean {
    const near = this.text.slice(this.#next, this.#next + reach);
    const found = findForm(forms.slice(0, 1), near);
    const start = found === undefined ? findForm(forms, this.text)?.start : this.#next + found.start;
    if (start === undefined) return false;
    this.#next = start + Math.max(length, forms[0]?.length ?? 0);
    return true;
  }
}
