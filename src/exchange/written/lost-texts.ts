/** Which texts of a conversation are not in its prompt, whole or in part, and which stand there as code. */
import type { PlacedText } from './placed-texts.ts';
import type { MessageParts, TextPart, TextSort } from './prompt-parts.ts';
import type { JsonPath } from '../request/request.ts';
import { trimmed } from './text-place.ts';
import type { Found } from './written-forms.ts';

export interface LostText {
  readonly sort: TextSort;
  /** Index of its message. */
  readonly message: number;
  readonly path: JsonPath;
  readonly member: string;
  readonly role: string;
  /** Runs of the text that are not there, in UTF-16 units; absent if none of it is there. */
  readonly missing?: readonly Found[];
  /** True if nothing else of its message is there. */
  readonly alone: boolean;
}

export function lostTexts(messages: readonly MessageParts[], texts: readonly PlacedText[]): LostText[] {
  const kept = new Uint8Array(messages.length);
  const lost: LostText[] = [];
  for (const { state, message } of texts) if (state !== 'lost') kept[message] = 1;
  for (const one of texts) {
    const { message, state } = one;
    if (state !== 'lost' && state !== 'cut') continue;
    const alone = kept[message] === 0 && messages[message]?.calls.length === 0;
    lost.push(lostText(one, messages[message]?.role ?? '', alone));
  }
  return lost;
}

/** @param one whose state is `lost` or `cut` */
export function lostText(
  { part, message, state, missing }: PlacedText,
  role: string,
  alone: boolean,
): LostText {
  const { path, member } = part;
  const sort = isReasoning(part, missing) ? 'reasoning' : part.sort;
  const one = { sort, message, path, member, role, alone };
  return state === 'cut' ? { ...one, missing: runsOf(part, missing) } : one;
}

/** In the text as it was sent. */
function runsOf({ text, skipped = 0 }: TextPart, missing: readonly Found[]): readonly Found[] {
  const shift = skipped + text.length - text.trimStart().length;
  return missing.map(({ start, end }) => ({ start: start + shift, end: end + shift }));
}

const closingMarker = /^\s*(?:<\/[^<>\s]{1,40}>|<\|?[^<>\s]{1,40}\|?>|\[\/?[A-Z_]{2,40}\])/;
const endsWithMarker = /(?:<\/[^<>\s]{1,40}>|<\|?[^<>\s]{1,40}\|?>|\[\/?[A-Z_]{2,40}\])\s*$/;

/** True for an answer whose beginning alone is gone, up to the marker that ends reasoning. */
function isReasoning({ sort, text }: TextPart, missing: readonly Found[]): boolean {
  if (sort !== 'answer' && sort !== 'text-beside-calls') return false;
  const given = text.trim();
  const [run, ...others] = missing.length === 0 ? [{ start: 0, end: given.length }] : missing;
  if (run?.start !== 0 || others.length > 0) return false;
  return endsWithMarker.test(given.slice(0, run.end)) || closingMarker.test(given.slice(run.end));
}

/** What stands before a part's text where a list of parts was written out in Python or JSON. */
const codeBefore = /['"]text['"]\s*:\s*['"]$/;

export function isCode({ part, place }: PlacedText, rendered: string): boolean {
  if (!part.listed || place === undefined || part.sort === 'tool-result') return false;
  const before = rendered.slice(Math.max(0, place.start - 24 - part.text.length), place.start);
  return codeBefore.test(before.slice(0, before.length - leadingSpace(part.text, before)));
}

/**
 * As in a written list of parts; white space at the text's beginning may be there, too.
 * @param end of the text in the prompt, which has it as it was sent
 */
export function standsInQuotes(text: string, end: number, rendered: string): boolean {
  const needle = trimmed(text);
  const start = end - needle.length;
  const spaced = start - (text.length - text.trimStart().length);
  return needle !== '' && [start, spaced].some((at) => /['"]/.test(rendered.charAt(at - 1)));
}

/** White space at the text's beginning is there, too. */
function leadingSpace(text: string, before: string): number {
  const space = text.slice(0, text.length - text.trimStart().length);
  return before.endsWith(space) ? space.length : 0;
}
