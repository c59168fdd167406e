/** Texts that were not met in their place, until the next longer text tells where they can stand at most. */
import type { SeenWriting } from './form-writing.ts';
import { GapRuns } from './gap-runs.ts';
import { isCode, lostText, type LostText } from './lost-texts.ts';
import { isLeading, isReasoning, type TextPart } from './prompt-parts.ts';
import { isLeftOut, mostRead, readsOfMissing, stateAnywhere, stateBetween } from './text-between.ts';
import type { TextState } from './text-pieces.ts';
import type { Found } from './written-forms.ts';

/** A text, and what is known of it by now. One for both: a loop of tools may have very many that are not there. */
export interface Awaited {
  readonly part: TextPart;
  /** Index of its message. */
  readonly message: number;
  readonly role: string;
  /** It can stand from there up to the next longer text. */
  readonly start: number;
  /** True if its message has calls, or a text that is there. */
  hasOther: boolean;
  state: TextState['state'];
  missing: TextState['missing'];
}

/** Where a text stands after all, in whatever form. */
export interface LatePlace {
  readonly awaited: Awaited;
  readonly place: Found;
}

const none: readonly never[] = [];

/** So many times it is looked for what a template leaves out. */
const enoughGone = 3;

export class AwaitedTexts {
  readonly #rendered: string;
  readonly #seen: SeenWriting;
  readonly #gapRuns = new GapRuns();
  /** Those that are not there, or not all of them. */
  readonly #unmet: Awaited[] = [];
  #awaited: Awaited[] = [];
  #reasoningAlone = true;
  #work = 0;
  /** So many texts beside calls were gone, and none was there since. */
  #goneBeside = 0;
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

  /** True where what is said beside calls is not worth a look in its place; if it is there, `settle` tells. */
  get leavesOutBeside(): boolean {
    return this.#goneBeside >= enoughGone || this.#seen.dropped.has('text-beside-calls');
  }

  /** How many characters they may take in the prompt if they are there. */
  get slack(): number {
    return this.#slack;
  }

  /** @param start it can stand from there on */
  add(part: TextPart, message: number, role: string, start: number): void {
    this.#awaited.push({ part, message, role, start, hasOther: false, state: 'unknown', missing: none });
    if (isReasoning(part.sort)) return;
    this.#reasoningAlone = false;
    this.#slack += part.text.length * 2;
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
    let places: LatePlace[] | undefined;
    let from = 0;
    let last = -1;
    let areTold = true;
    for (const awaited of this.#awaited) {
      const { part, message } = awaited;
      const start = Math.max(awaited.start, from);
      this.#work += (end - start) * readsOfMissing;
      if (this.#work > mostRead(this.#rendered)) return undefined;
      const state = stateBetween(part, { start, end }, this.#rendered, this.#seen, this.#gapRuns);
      const { place } = state;
      if (state.state === 'unknown' || state.leftOut !== undefined) return undefined;
      if (place !== undefined) {
        // Those before it were looked for in it, too.
        if (!areTold) return undefined;
        // Reasoning that is there was looked for in its place.
        if (isReasoning(part.sort) || isCode({ part, message, ...state }, this.#rendered)) return undefined;
        places ??= [];
        places.push({ awaited, place });
        from = place.end;
      }
      areTold &&= state.state === 'lost' || place !== undefined;
      if (state.state !== 'lost') {
        markLast(this.#unmet, message);
        last = message;
      }
      if (part.sort === 'text-beside-calls')
        this.#goneBeside = state.state === 'lost' ? this.#goneBeside + 1 : 0;
      if (state.state === 'kept') continue;
      awaited.hasOther ||= last === message;
      awaited.state = state.state;
      awaited.missing = state.missing;
      this.#unmet.push(awaited);
    }
    this.#awaited = [];
    this.#reasoningAlone = true;
    this.#slack = 0;
    return places ?? none;
  }

  /** Those that are not there, or not all of it; undefined if one of them stands elsewhere. */
  lost(): readonly LostText[] | undefined {
    const gone: Awaited[] = [];
    let isBesideGone = false;
    /** What is not known of may be there. */
    let unknownOf = -1;
    for (const one of this.#unmet) {
      const isBeside = one.part.sort === 'text-beside-calls';
      // A template that leaves out what is said beside one call, and writes it nowhere else, does so with the next.
      const isKnown =
        isReasoning(one.part.sort) || isLeftOut(one.part, this.#seen) || (isBeside && isBesideGone);
      if (one.state === 'lost' && !isKnown) {
        if (this.#work + this.#rendered.length > mostRead(this.#rendered)) {
          unknownOf = one.message;
          markLast(gone, unknownOf);
          continue;
        }
        const { state } = stateAnywhere(one.part, this.#rendered, this.#seen);
        this.#work += this.#rendered.length * readsOfMissing;
        if (state !== 'lost' || isLeading(one.part.sort)) return undefined;
        isBesideGone ||= isBeside;
      }
      one.hasOther ||= one.message === unknownOf;
      gone.push(one);
    }
    return gone.map((one) => lostText(one, one.role, !one.hasOther));
  }
}

/** Those of the message, which are the last. */
function markLast(ones: readonly Awaited[], message: number): void {
  for (let index = ones.length - 1; index >= 0; index -= 1) {
    const one = ones[index];
    if (one?.message !== message) return;
    one.hasOther = true;
  }
}
