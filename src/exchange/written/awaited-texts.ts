/** Texts that were not met in their place, until the next longer text tells where they can stand at most. */
import type { SeenWriting } from './form-writing.ts';
import { isCode, lostText, type LostText } from './lost-texts.ts';
import { isLeading, type PlacedText } from './placed-texts.ts';
import { isReasoning, type TextPart } from './prompt-parts.ts';
import { mostRead, readsOfMissing, stateAnywhere, stateBetween } from './text-between.ts';
import type { Found } from './written-forms.ts';

export interface Awaited {
  readonly part: TextPart;
  /** Index of its message. */
  readonly message: number;
  readonly role: string;
  /** It can stand from there up to the next longer text. */
  readonly start: number;
}

/** Where a text stands after all, in whatever form. */
export interface LatePlace {
  readonly awaited: Awaited;
  readonly place: Found;
}

interface Unmet extends PlacedText {
  readonly role: string;
  /** True if its message has calls, or a text that is there. */
  hasOther: boolean;
}

interface Waiting extends Awaited {
  hasOther: boolean;
}

export class AwaitedTexts {
  readonly #rendered: string;
  readonly #seen: SeenWriting;
  readonly #unmet: Unmet[] = [];
  #awaited: Waiting[] = [];
  #reasoningAlone = true;
  #work = 0;
  #slack = 0;

  constructor(rendered: string, seen: SeenWriting) {
    this.#rendered = rendered;
    this.#seen = seen;
  }

  get count(): number {
    return this.#awaited.length;
  }

  /** False if a text is awaited that is no reasoning. */
  get isReasoningAlone(): boolean {
    return this.#reasoningAlone;
  }

  /** How many characters they may take in the prompt if they are there. */
  get slack(): number {
    return this.#slack;
  }

  add(awaited: Awaited): void {
    const { part, message, role, start } = awaited;
    this.#awaited.push({ part, message, role, start, hasOther: false });
    if (isReasoning(awaited.part.sort)) return;
    this.#reasoningAlone = false;
    this.#slack += awaited.part.text.length * 2;
  }

  /** The message has calls, or another text that is there. */
  noteOther(message: number): void {
    markLast(this.#unmet, message);
    markLast(this.#awaited, message);
  }

  /**
   * What became of the texts before that place.
   * @returns the places of those that are there; undefined if what they are can not be told from here
   */
  settle(end: number): readonly LatePlace[] | undefined {
    const places: LatePlace[] = [];
    let from = 0;
    let last = -1;
    for (const awaited of this.#awaited) {
      const { part, message, role } = awaited;
      const start = Math.max(awaited.start, from);
      this.#work += (end - start) * readsOfMissing;
      if (this.#work > mostRead(this.#rendered)) return undefined;
      const state = stateBetween(part, { start, end }, this.#rendered, this.#seen);
      const { place } = state;
      if (state.state === 'unknown' || state.leftOut !== undefined) return undefined;
      if (place !== undefined) {
        // Reasoning that is there was looked for in its place.
        if (isReasoning(part.sort) || isCode({ part, message, ...state }, this.#rendered)) return undefined;
        places.push({ awaited, place });
        from = place.end;
      }
      if (state.state !== 'lost') {
        markLast(this.#unmet, message);
        last = message;
      }
      if (state.state === 'kept') continue;
      const hasOther = awaited.hasOther || last === message;
      this.#unmet.push({ part, message, role, state: state.state, missing: state.missing, hasOther });
    }
    this.#awaited = [];
    this.#reasoningAlone = true;
    this.#slack = 0;
    return places;
  }

  /** Those that are not there, or not all of it; undefined if one of them stands elsewhere. */
  lost(): readonly LostText[] | undefined {
    const gone: Unmet[] = [];
    /** What is not known of may be there. */
    let unknownOf = -1;
    for (const one of this.#unmet) {
      if (one.state === 'lost' && !isReasoning(one.part.sort)) {
        if (this.#work + this.#rendered.length > mostRead(this.#rendered)) {
          unknownOf = one.message;
          markLast(gone, unknownOf);
          continue;
        }
        const { state } = stateAnywhere(one.part, this.#rendered, this.#seen);
        this.#work += this.#rendered.length * readsOfMissing;
        if (state !== 'lost' || isLeading(one.part)) return undefined;
      }
      one.hasOther ||= one.message === unknownOf;
      gone.push(one);
    }
    return gone.map((one) => lostText(one, one.role, !one.hasOther));
  }
}

/** Those of the message, which are the last. */
function markLast(ones: readonly (Unmet | Waiting)[], message: number): void {
  for (let index = ones.length - 1; index >= 0; index -= 1) {
    const one = ones[index];
    if (one?.message !== message) return;
    one.hasOther = true;
  }
}
