/** Texts that are not in a prompt as they were sent, nor in one of the forms: what of them is there, and what is not. */
import type { FormWriting } from './form-writing.ts';
import { mostGap, type GapRuns } from './gap-runs.ts';
import type { TextPart } from './prompt-parts.ts';
import {
  findAs,
  findWritten,
  isPlainCode,
  longPlainRun,
  missingRuns,
  probedLength,
  writtenForms,
  type Found,
} from './written-forms.ts';

export interface TextState {
  /** `kept`: all of it is there in some form; `cut`: some of it is; `unknown`: it was not looked for everywhere. */
  readonly state: 'kept' | 'cut' | 'lost' | 'unknown';
  /** In the rendered prompt; absent where it is there in pieces, or not. */
  readonly place?: Found;
  /** Runs of the trimmed text that are not there; [] unless the state is `cut`. */
  readonly missing: readonly Found[];
  /** What of the text the template leaves out everywhere; absent where nothing is. */
  readonly leftOut?: string;
}

/** A shorter run may be a flag that the template reads and takes out, as some do. */
const leastRun = 200;

/** What the form that stands there has left out of the text; undefined if that is nothing, or if it stands there whole. */
export function leftOutOf(text: string, there: string, writings: readonly FormWriting[]): string | undefined {
  const given = text.trim();
  if (there === given) return undefined;
  for (const form of writings) {
    const leftOut = form.leftOut(given);
    if (leftOut !== undefined && findAs(form, given, there) !== undefined) return leftOut;
  }
  return undefined;
}

/** For a text that the template has changed inside. */
export function inPieces(
  given: string,
  rendered: string,
  writings: readonly FormWriting[],
  gapRuns: GapRuns,
): TextState {
  const runs =
    rendered.length > mostGap || gapRuns.shares(given, rendered)
      ? missingRuns(given, rendered)
      : [{ start: 0, end: given.length }];
  const isCut = runs.some(({ start, end }) => end - start >= leastRun);
  const isGone = isWhole(runs, given);
  if (!isGone && !isCut) return { state: 'kept', missing: [] };
  const isThere = (form: string): boolean =>
    missingRuns(form, rendered).every(
      ({ start, end }) => end - start < leastRun && end - start < form.length,
    );
  const own = writings.filter((form) => !isGone || !form.keepsPlain).flatMap((form) => form.write(given));
  if (own.some((form) => form !== given && isThere(form))) return { state: 'kept', missing: [] };
  // All other forms have such a run, and it was looked for.
  if (isGone && longPlainRun.test(given.slice(0, probedLength))) return { state: 'lost', missing: [] };
  if (writtenForms(given).slice(1).some(isThere)) return { state: 'kept', missing: [] };
  return isGone ? { state: 'lost', missing: [] } : { state: 'cut', missing: runs };
}

/** Of plain characters: such a run is a text's own, and stands in each of its forms. */
const leastOwn = 28;
/** It is looked for in so much of a text's beginning. */
const mostBeginning = 256;

/**
 * True for a text with a run which no form writes otherwise, and of which a short gap holds nothing. Most that is left out is
 * told so.
 */
export function isClearlyGone(
  given: string,
  gap: string,
  writings: readonly FormWriting[],
  gapRuns: GapRuns,
): boolean {
  if (gap.length > mostGap || !hasOwnRun(given)) return false;
  return writings.every(({ keepsPlain }) => keepsPlain) && !gapRuns.shares(given, gap);
}

function hasOwnRun(given: string): boolean {
  const end = Math.min(given.length, mostBeginning);
  let run = 0;
  for (let at = 0; at < end; at += 1) {
    run = isPlainCode(given.charCodeAt(at)) ? run + 1 : 0;
    if (run === leastOwn) return true;
  }
  return false;
}

/** Ends reasoning inside an answer, whatever the model calls it. */
const closing = /(?:<\/[^<>\s]{1,40}>|<\|?[^<>\s]{1,40}\|>|<[^<>\s]{1,40}\|>|\[\/[A-Z_]{1,40}\])\s*/g;

/** An answer that is there from the end of its reasoning on; undefined if it has none, or is not. */
export function withoutReasoning(
  { sort, text }: TextPart,
  gap: string,
  writings: readonly FormWriting[],
): TextState | undefined {
  if (sort !== 'answer' && sort !== 'text-beside-calls') return undefined;
  const given = text.trim();
  const last = [...given.matchAll(closing)].at(-1);
  if (last === undefined) return undefined;
  const start = last.index + last[0].length;
  const isThere = findWritten(given.slice(start), gap, writings) !== undefined;
  return isThere ? { state: 'cut', missing: [{ start: 0, end: start }] } : undefined;
}

const samples = 4;
const sampleLength = 48;

/** True if half of the samples of a text that was moved and changed are there; one may be by chance. */
export function holdsSamples(form: string, rendered: string): boolean {
  const step = Math.floor((form.length - sampleLength) / samples);
  if (step <= 0) return false;
  let held = 0;
  for (let index = 0; index < samples; index += 1) {
    if (rendered.includes(form.slice(index * step, index * step + sampleLength))) held += 1;
    if (held * 2 >= samples) return true;
    const left = samples - index - 1;
    if ((held + left) * 2 < samples) return false;
  }
  return false;
}

function isWhole(runs: readonly Found[], form: string): boolean {
  const [first] = runs;
  return first?.start === 0 && first.end === form.length;
}

export function holdsWord(text: string, rendered: string): boolean {
  return (text.match(/[\p{L}\p{N}]{3,}/gu) ?? []).some((word) => rendered.includes(word));
}
