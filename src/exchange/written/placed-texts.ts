/**
 * Where the texts of a conversation stand in its rendered prompt. One scan forward finds what is there as it was sent and in
 * order; the rest is looked for between its neighbours, and only then everywhere, with bounded work.
 */
import { parseJson } from '../json/body-reader.ts';
import { isReasoning, jsonTexts, type MessageParts, type TextPart } from './prompt-parts.ts';
import { placeOf } from './text-place.ts';
import {
  findWritten,
  longPlainRun,
  missingRuns,
  probedLength,
  writtenForms,
  type Found,
} from './written-forms.ts';

export interface PlacedText {
  readonly part: TextPart;
  /** Index of its message. */
  readonly message: number;
  /** `kept`: all of it is there in some form; `cut`: some of it is; `unknown`: it was not looked for everywhere. */
  readonly state: 'kept' | 'cut' | 'lost' | 'unknown';
  /** In the rendered prompt; absent where it is there in pieces, or not. */
  readonly place?: Found;
  /** Runs of the trimmed text that are not there; [] unless the state is `cut`. */
  readonly missing: readonly Found[];
}

export interface PlacedTexts {
  readonly texts: readonly PlacedText[];
  /** Where they are, in the order of the prompt. */
  readonly ranges: readonly Found[];
  /** True if what follows each other in the request does so in the prompt: only then is a place between two known. */
  readonly inOrder: boolean;
}

/** A shorter text stands in other texts, and in markup, by chance. */
export const leastAnchor = 12;
/** A shorter run may be a flag that the template reads and takes out, as some do. */
const leastRun = 200;
/** How far behind the text before it the scan looks for the next one, beyond its length. */
const reach = 65_536;
const shortReach = 4096;
/** Beyond so many texts that are not where they are looked for, the scan looks only near. */
const mostMisses = 16;
/** Looking for what is missing reads so many times the prompt at most, and a short one a little more often. */
const mostReads = 16;
const freeCharacters = 1_000_000;
/** What is not there is read for so often: for one form or two, and then for pieces. */
const readsOfMissing = 4;

export function placeTexts(messages: readonly MessageParts[], rendered: string): PlacedTexts {
  return new Placing(messages, rendered).place();
}

class Placing {
  readonly #parts: readonly { readonly part: TextPart; readonly message: number }[];
  readonly #rendered: string;
  #work = 0;

  constructor(messages: readonly MessageParts[], rendered: string) {
    this.#parts = messages.flatMap(({ texts }, message) => texts.map((part) => ({ part, message })));
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
      const one = this.#near(part, anchors[index], start, ends[index] ?? this.#rendered.length);
      start = Math.max(start, one.place?.end ?? 0);
      return { part, message, ...one };
    });
    const placed = near.map((one): PlacedText => {
      if (one.state !== 'lost' || one.part.text.trim().length < leastAnchor) return one;
      const far = this.#everywhere(one.part);
      if (far.state === 'kept' && !isLeading(one.part)) inOrder = false;
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
      return findWritten(one.part.text, frame) === undefined ? one : { ...one, state: 'kept' };
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
        // The end of a text that was changed, or cut at its beginning, shows where the next one is to be expected.
        const tail = near.indexOf(needle.slice(-leastAnchor * 4));
        if (tail >= 0) {
          from += tail;
          return undefined;
        }
        misses += 1;
        at = misses > mostMisses ? -1 : placeOf(this.#rendered, needle, from);
        if (at < 0) return undefined;
        at -= from;
      }
      const found = { start: from + at, end: from + at + needle.length };
      // Instructions that were moved behind what follows them are no place to go on from.
      const next = isLeading(part)
        ? needles.find(({ length }, other) => other > index && length >= leastAnchor)
        : undefined;
      if (next !== undefined && placeOf(this.#rendered, next, found.end) < 0) return undefined;
      from = found.end;
      return found;
    });
  }

  /** Between the texts before and after it. */
  #near(part: TextPart, anchor: Found | undefined, start: number, end: number): PlacedState {
    if (anchor !== undefined) return { state: 'kept', place: anchor, missing: [] };
    const gap = this.#rendered.slice(start, end);
    if (this.#isSpent(gap.length)) return { state: 'unknown', missing: [] };
    const near = findWritten(part.text, gap);
    if (near !== undefined) {
      return { state: 'kept', place: { start: near.start + start, end: near.end + start }, missing: [] };
    }
    this.#work += gap.length * readsOfMissing;
    const given = part.text.trim();
    const isShort = given.length < leastAnchor * 2;
    if ((isShort && holdsWord(given, gap)) || holdsValues(part, gap)) return { state: 'kept', missing: [] };
    return withoutReasoning(part, gap) ?? inPieces(given, gap);
  }

  #everywhere(part: TextPart): PlacedState {
    // Where reasoning stands is known, if it is kept.
    if (isReasoning(part.sort)) return { state: 'lost', missing: [] };
    if (this.#isSpent(this.#rendered.length)) return { state: 'unknown', missing: [] };
    const place = findWritten(part.text, this.#rendered);
    if (place !== undefined) return { state: 'kept', place, missing: [] };
    this.#work += this.#rendered.length * readsOfMissing;
    const forms = writtenForms(part.text);
    return { state: forms.some((form) => holdsSamples(form, this.#rendered)) ? 'kept' : 'lost', missing: [] };
  }

  #isSpent(next: number): boolean {
    return this.#work + next > mostReads * this.#rendered.length + freeCharacters;
  }
}

type PlacedState = Omit<PlacedText, 'part' | 'message'>;

/** Instructions may stand anywhere: some templates move them into the last question's turn. */
function isLeading({ sort }: TextPart): boolean {
  return sort === 'instructions' || sort === 'later-instructions';
}

function mayBeGone({ sort }: TextPart): boolean {
  return sort === 'reasoning' || sort === 'loop-reasoning' || sort === 'unread';
}

/** For a text that the template has changed inside. */
function inPieces(given: string, rendered: string): PlacedState {
  const runs = missingRuns(given, rendered);
  const isCut = runs.some(({ start, end }) => end - start >= leastRun);
  const isGone = isWhole(runs, given);
  if (!isGone && !isCut) return { state: 'kept', missing: [] };
  // All forms have such a run, and it was looked for.
  if (isGone && longPlainRun.test(given.slice(0, probedLength))) return { state: 'lost', missing: [] };
  for (const form of writtenForms(given).slice(1)) {
    const ofForm = missingRuns(form, rendered);
    if (ofForm.every(({ start, end }) => end - start < leastRun && end - start < form.length))
      return { state: 'kept', missing: [] };
  }
  return isGone ? { state: 'lost', missing: [] } : { state: 'cut', missing: runs };
}

/** Ends reasoning inside an answer, whatever the model calls it. */
const closing = /(?:<\/[^<>\s]{1,40}>|<\|?[^<>\s]{1,40}\|>|<[^<>\s]{1,40}\|>|\[\/[A-Z_]{1,40}\])\s*/g;

/** An answer that is there from the end of its reasoning on; undefined if it has none, or is not. */
function withoutReasoning({ sort, text }: TextPart, gap: string): PlacedState | undefined {
  if (sort !== 'answer' && sort !== 'text-beside-calls') return undefined;
  const given = text.trim();
  const last = [...given.matchAll(closing)].at(-1);
  if (last === undefined) return undefined;
  const start = last.index + last[0].length;
  const isThere = findWritten(given.slice(start), gap) !== undefined;
  return isThere ? { state: 'cut', missing: [{ start: 0, end: start }] } : undefined;
}

/** True for a result in JSON that was taken apart and is there by most of what it says. */
function holdsValues({ sort, text }: TextPart, gap: string): boolean {
  const value = sort === 'tool-result' && /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (value === undefined) return false;
  const texts = jsonTexts(value).filter((one) => one.trim() !== '');
  const held = texts.filter((one) => findWritten(one, gap) !== undefined);
  return texts.length > 0 && held.length * 2 >= texts.length;
}

const samples = 4;
const sampleLength = 48;

/** True if half of the samples of a text that was moved and changed are there; one may be by chance. */
function holdsSamples(form: string, rendered: string): boolean {
  const step = Math.floor((form.length - sampleLength) / samples);
  if (step <= 0) return false;
  const held = Array.from({ length: samples }, (_, index) =>
    rendered.includes(form.slice(index * step, index * step + sampleLength)),
  );
  return held.filter(Boolean).length * 2 >= samples;
}

function isWhole(runs: readonly Found[], form: string): boolean {
  const [first] = runs;
  return first?.start === 0 && first.end === form.length;
}

function holdsWord(text: string, rendered: string): boolean {
  return (text.match(/[\p{L}\p{N}]{3,}/gu) ?? []).some((word) => rendered.includes(word));
}

/** In the order of the prompt. A short text may have been found inside a tool, which must not lose it. */
function rangesOf(texts: readonly PlacedText[]): readonly Found[] {
  return texts.flatMap(({ place }) => (isAnchor(place) ? [place] : [])).toSorted((a, b) => a.start - b.start);
}

/** True where the text is long enough to stand nowhere by chance. */
export function isAnchor(place: Found | undefined): place is Found {
  return place !== undefined && place.end - place.start >= leastAnchor;
}

/** What the text has outside the ranges, which are in order and may overlap. */
export function outside(text: string, ranges: readonly Found[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    if (start > at) pieces.push(text.slice(at, start));
    at = Math.max(at, end);
  }
  pieces.push(text.slice(at));
  // A name at the end of one piece is no name with the beginning of the next.
  return pieces.join('\n');
}
