/** What of a text stands between those before and after it, in whatever form a template may have written it. */
import { parseJson } from '../json/body-reader.ts';
import type { TextPlace } from '../seen-form.ts';
import type { FormWriting, SeenWriting } from './form-writing.ts';
import type { GapRuns } from './gap-runs.ts';
import { holdsJson } from './json-style.ts';
import { isReasoning, jsonTexts, type TextPart, type TextSort } from './prompt-parts.ts';
import {
  holdsSamples,
  holdsWord,
  inPieces,
  isClearlyGone,
  leftOutOf,
  withoutReasoning,
  type TextState,
} from './text-pieces.ts';
import { placeOf, trimmed } from './text-place.ts';
import { leastAnchor } from './text-ranges.ts';
import { anchorLength, findWritten, writtenForms, type Found } from './written-forms.ts';

/** Looking for what is missing reads so many times the prompt at most, and a short one a little more often. */
const mostReads = 16;
const freeCharacters = 1_000_000;
/** What is not there is read for so often: for one form or two, and then for pieces. */
export const readsOfMissing = 4;

/** So many characters are read in looking for the texts of a conversation; what is not found by then is unknown. */
export function mostRead(rendered: string): number {
  return mostReads * rendered.length + freeCharacters;
}

/** An answer that may hold its reasoning, of which what follows it may be there; a result's values may be. */
const mayEndReasoning = /[<[]/;

const gone: TextState = { state: 'lost', missing: [] };

/** @param seen how this template writes what it is given */
export function stateBetween(
  part: TextPart,
  { start, end }: Found,
  rendered: string,
  seen: SeenWriting,
  gapRuns: GapRuns,
): TextState {
  const gap = rendered.slice(start, end);
  const given = trimmed(part.text);
  const isTold = isReasoning(part.sort) || (part.sort !== 'tool-result' && !mayEndReasoning.test(given));
  const isExpected = isTold && isLeftOut(part, seen);
  if (isExpected && !gap.includes(given.slice(0, anchorLength))) return gone;
  const writings = writingsOf(part, seen);
  if (isTold && !isExpected && isClearlyGone(given, gap, writings, gapRuns)) return gone;
  const near = findWritten(part.text, gap, writings);
  if (near !== undefined) {
    const place = { start: near.start + start, end: near.end + start };
    const leftOut = leftOutOf(part.text, rendered.slice(place.start, place.end), writings);
    return { state: 'kept', place, missing: [], ...(leftOut !== undefined && { leftOut }) };
  }
  const isShort = given.length < leastAnchor * 2;
  if ((isShort && holdsWord(given, gap)) || holdsValues(part, gap, seen))
    return { state: 'kept', missing: [] };
  return withoutReasoning(part, gap, writings) ?? inPieces(given, gap, writings, gapRuns);
}

/** True for what this template was seen to leave out of any conversation: one look tells that it does so here, too. */
export function isLeftOut({ sort, text }: TextPart, { dropped }: SeenWriting): boolean {
  return (
    (sort === 'text-beside-calls' || isReasoning(sort)) && dropped.has(sort) && text.length >= leastAnchor
  );
}

/** Where a text stands, with all that it says, in a form in which this template was seen to write texts of that sort. */
export function wholePlace(part: TextPart, where: string, seen: SeenWriting): Found | undefined {
  const writings = writingsOf(part, seen);
  for (const { changesSpace, write } of writings) {
    if (changesSpace) continue;
    for (const written of write(part.text)) {
      const start = written.length < leastAnchor ? -1 : placeOf(where, written);
      if (start < 0) continue;
      const isWhole = leftOutOf(part.text, written, writings) === undefined;
      return isWhole ? { start, end: start + written.length } : undefined;
    }
  }
  return undefined;
}

/** The same anywhere in a prompt, where it was looked for between the texts around it. */
export function stateAnywhere(part: TextPart, rendered: string, seen: SeenWriting): TextState {
  const writings = writingsOf(part, seen);
  const place = findWritten(part.text, rendered, writings);
  if (place !== undefined) return { state: 'kept', place, missing: [] };
  const forms = new Set([...writings.flatMap((form) => form.write(part.text)), ...writtenForms(part.text)]);
  return { state: [...forms].some((form) => holdsSamples(form, rendered)) ? 'kept' : 'lost', missing: [] };
}

/** The forms in which this template was seen to write texts of that sort. */
export function writingsOf({ sort, listed }: TextPart, seen: SeenWriting): readonly FormWriting[] {
  const places = placesOf[sort];
  return seen.at(...(listed ? [...places, 'text-part' as const] : places));
}

/** Where what was seen of a sort of text is kept. */
const placesOf: Readonly<Record<TextSort, readonly TextPlace[]>> = {
  instructions: ['instructions'],
  'later-instructions': ['instructions'],
  question: ['question'],
  answer: ['answer'],
  'text-beside-calls': ['answer'],
  reasoning: ['reasoning'],
  'loop-reasoning': ['reasoning'],
  'tool-result': ['tool-result'],
  'other-role': [],
  unread: [],
};

/** True for a result in JSON that was written again, or was taken apart and is there by most of what it says. */
function holdsValues({ sort, text }: TextPart, gap: string, seen: SeenWriting): boolean {
  const value = sort === 'tool-result' && /^\s*[-\d[{]/.test(text) ? parseJson(text) : undefined;
  if (value === undefined) return false;
  const writings = seen.at('tool-result-value');
  if (typeof value === 'number') return findWritten(String(value), gap, writings) !== undefined;
  const style = seen.resultStyle;
  if (style !== undefined && holdsJson(value, style, writings, gap)) return true;
  const texts = jsonTexts(value).filter((one) => one.trim() !== '');
  const held = texts.filter((one) => findWritten(one, gap, writings) !== undefined);
  return texts.length > 0 && held.length * 2 >= texts.length;
}
