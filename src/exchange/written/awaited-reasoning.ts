/** Reasoning that was not met in its place, until the next longer text tells where it can stand at most. */
import type { SeenWriting } from './form-writing.ts';
import { runsOf, type LostText } from './lost-texts.ts';
import type { TextPart } from './prompt-parts.ts';
import { mostRead, readsOfMissing, stateBetween } from './text-between.ts';

export interface Awaited {
  readonly part: TextPart;
  /** Index of its message. */
  readonly message: number;
  readonly role: string;
  /** True if the message has nothing else. */
  readonly alone: boolean;
  /** It can stand from there up to the next longer text. */
  readonly start: number;
}

export class AwaitedReasoning {
  /** What is not there, or not all of it. */
  readonly lost: LostText[] = [];
  readonly #rendered: string;
  readonly #seen: SeenWriting;
  #awaited: Awaited[] = [];
  #work = 0;

  constructor(rendered: string, seen: SeenWriting) {
    this.#rendered = rendered;
    this.#seen = seen;
  }

  get isAny(): boolean {
    return this.#awaited.length > 0;
  }

  add(awaited: Awaited): void {
    this.#awaited.push(awaited);
  }

  /** What became of the reasoning before that place; false if it is there after all, or was not looked for. */
  settle(end: number): boolean {
    for (const { part, message, role, alone, start } of this.#awaited) {
      this.#work += (end - start) * readsOfMissing;
      if (this.#work > mostRead(this.#rendered)) return false;
      const { state, place, missing } = stateBetween(part, { start, end }, this.#rendered, this.#seen);
      if (place !== undefined || state === 'unknown') return false;
      if (state === 'kept') continue;
      const { sort, path, member } = part;
      const lost = { sort, message, path, member, role, alone };
      this.lost.push(state === 'cut' ? { ...lost, missing: runsOf(part, missing) } : lost);
    }
    this.#awaited = [];
    return true;
  }
}
