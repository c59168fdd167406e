/**
 * Where the texts of a conversation stand in its rendered prompt. One scan forward finds what is there as it was sent and in
 * order; the rest is looked for between its neighbours, and only then everywhere, with bounded work.
 */
import type { SeenWriting } from './form-writing.ts';
import { GapRuns } from './gap-runs.ts';
import { isLeading, isReasoning, type MessageParts, type TextPart } from './prompt-parts.ts';
import {
  isLeftOut,
  mostRead,
  readsOfMissing,
  stateAnywhere,
  stateBetween,
  wholePlace,
  writingsOf,
} from './text-between.ts';
import type { TextState } from './text-pieces.ts';
import { placeOf } from './text-place.ts';
import { isAnchor, leastAnchor, outside } from './text-ranges.ts';
import { findWritten, type Found } from './written-forms.ts';

export interface PlacedText extends TextState {
  readonly part: TextPart;
  /** Index of its message. */
  readonly message: number;
}

export interface PlacedTexts {
  readonly texts: readonly PlacedText[];
  /** Where they are, in the order of the prompt. */
  readonly ranges: readonly Found[];
  /** True if what follows each other in the request does so in the prompt: only then is a place between two known. */
  readonly inOrder: boolean;
}

/** How far behind the text before it the scan looks for the next one, beyond its length. */
const reach = 65_536;
const shortReach = 4096;
/** What ends a changed text stands so far behind its length at most: farther on, another text may end with the same. */
const tailReach = 1024;
/** Beyond so many texts that are not where they are looked for, the scan looks only near. */
const mostMisses = 16;

/** @param seen how this template writes what it is given */
export function placeTexts(
  messages: readonly MessageParts[],
  rendered: string,
  seen: SeenWriting,
): PlacedTexts {
  return new Placing(messages, rendered, seen).place();
}

const none: readonly Found[] = [];

class Placing {
  readonly #parts: readonly { readonly part: TextPart; readonly message: number }[];
  readonly #rendered: string;
  readonly #seen: SeenWriting;
  readonly #gapRuns = new GapRuns();
  #work = 0;

  constructor(messages: readonly MessageParts[], rendered: string, seen: SeenWriting) {
    this.#seen = seen;
    const parts: { readonly part: TextPart; readonly message: number }[] = [];
    for (const [message, { texts }] of messages.entries()) {
      for (const part of texts) parts.push({ part, message });
    }
    this.#parts = parts;
    this.#rendered = rendered;
  }

  place(): PlacedTexts {
    const anchors = this.#scan();
    const ends = new Array<number>(anchors.length).fill(this.#rendered.length);
    for (let index = anchors.length - 2; index >= 0; index -= 1) {
      ends[index] = anchors[index + 1]?.start ?? ends[index + 1] ?? this.#rendered.length;
    }
    let start = 0;
    let inOrder = true;
    const near = this.#parts.map(({ part, message }, index): PlacedText => {
      const anchor = anchors[index];
      if (anchor !== undefined) {
        start = Math.max(start, anchor.end);
        return { part, message, state: 'kept', place: anchor, missing: none };
      }
      const one = this.#near(part, start, ends[index] ?? this.#rendered.length);
      start = Math.max(start, one.place?.end ?? 0);
      return { part, message, ...one };
    });
    const placed = near.map((one): PlacedText => {
      if (one.state !== 'lost' || isReasoning(one.part.sort) || isLeftOut(one.part, this.#seen)) return one;
      if (one.part.text.trim().length < leastAnchor) return one;
      const far = this.#everywhere(one.part);
      if (far.state === 'kept' && !isLeading(one.part.sort)) inOrder = false;
      return { ...one, ...far };
    });
    const ranges = rangesOf(placed);
    let frame: string | undefined;
    const texts = placed.map((one): PlacedText => {
      if (one.state !== 'lost' || one.part.text.trim().length >= leastAnchor) return one;
      // A short text is only looked for where no other text is.
      frame ??= outside(this.#rendered, ranges);
      if (this.#isSpent(frame.length)) return { ...one, state: 'unknown' };
      this.#work += frame.length;
      return findWritten(one.part.text, frame, writingsOf(one.part, this.#seen)) === undefined
        ? one
        : { ...one, state: 'kept' };
    });
    return { texts, inOrder, ranges };
  }

  /** The places of what is there as it was sent, in order; undefined for short texts and for what the scan does not meet. */
  #scan(): readonly (Found | undefined)[] {
    let from = 0;
    let misses = 0;
    const needles = this.#parts.map(({ part }) => part.text.trim());
    return this.#parts.map(({ part }, index) => {
      const needle = needles[index] ?? '';
      // Reasoning may be gone by design, and what nobody reads is.
      if (needle.length < leastAnchor || mayBeGone(part)) return undefined;
      const most = needle.length + (misses > mostMisses ? shortReach : reach);
      const near = this.#rendered.slice(from, from + most);
      let at = placeOf(near, needle);
      if (at < 0) {
        const written = wholePlace(part, near, this.#seen);
        if (written !== undefined) {
          const found = { start: from + written.start, end: from + written.end };
          from = found.end;
          return found;
        }
        // The end of a text that was changed, or cut at its beginning, shows where the next one is to be expected.
        const end = needle.slice(-leastAnchor * 4);
        const tail = near.slice(0, needle.length * 2 + tailReach).indexOf(end);
        if (tail >= 0) {
          // The next text may say the same, and then it is that one's.
          if (needles[index + 1]?.includes(end) !== true) from += tail;
          return undefined;
        }
        misses += 1;
        at = misses > mostMisses ? -1 : placeOf(this.#rendered, needle, from);
        if (at < 0) return undefined;
        at -= from;
      }
      const found = { start: from + at, end: from + at + needle.length };
      // Instructions that were moved behind what follows them are no place to go on from.
      const next = isLeading(part.sort)
        ? needles.find(({ length }, other) => other > index && length >= leastAnchor)
        : undefined;
      if (next !== undefined && placeOf(this.#rendered, next, found.end) < 0) return undefined;
      from = found.end;
      return found;
    });
  }

  /** Between the texts before and after it. */
  #near(part: TextPart, start: number, end: number): TextState {
    if (this.#isSpent(end - start)) return { state: 'unknown', missing: [] };
    const state = stateBetween(part, { start, end }, this.#rendered, this.#seen, this.#gapRuns);
    if (state.place === undefined) this.#work += (end - start) * readsOfMissing;
    return state;
  }

  /** Not for reasoning: where that stands is known, if it is kept. */
  #everywhere(part: TextPart): TextState {
    if (this.#isSpent(this.#rendered.length)) return { state: 'unknown', missing: [] };
    const state = stateAnywhere(part, this.#rendered, this.#seen);
    if (state.place === undefined) this.#work += this.#rendered.length * readsOfMissing;
    return state;
  }

  #isSpent(next: number): boolean {
    return this.#work + next > mostRead(this.#rendered);
  }
}

function mayBeGone({ sort }: TextPart): boolean {
  return sort === 'reasoning' || sort === 'loop-reasoning' || sort === 'unread';
}

/** In the order of the prompt. A short text may have been found inside a tool, which must not lose it. */
function rangesOf(texts: readonly PlacedText[]): readonly Found[] {
  const ranges: Found[] = [];
  let isSorted = true;
  let before = 0;
  for (const { place } of texts) {
    if (!isAnchor(place)) continue;
    isSorted &&= place.start >= before;
    before = place.start;
    ranges.push(place);
  }
  return isSorted ? ranges : ranges.toSorted((a, b) => a.start - b.start);
}
