/** Openings of turns in which the place of the role was never filled in, where a prompt begins or ends with one. */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import { ownForms } from './turn-forms.ts';

export interface UnfilledOpening {
  readonly marker: string;
  /** UTF-16 offset of the marker. */
  readonly start: number;
  /** Behind what stands in the place of the role. */
  readonly end: number;
}

/** What format strings and templates write, and what languages print where there was no role. */
const unfilled = /(?:\$?\{{1,2}[^{}\n]{0,40}\}{1,2}|%s|undefined|null|None)(?=\s|<|$)/y;

/** A first turn stands behind little more than BOS. */
const headCharacters = 200;
/** More than the opening of an answer takes. */
const endCharacters = 256;

/** Within a prompt such text is quoted, as a rendered question about templates has it. */
export function unfilledOpening(text: string, facts: ModelFacts): UnfilledOpening | undefined {
  const { openings, frame } = ownForms(facts);
  const trimmed = text.trimEnd();
  for (const { start, named } of openings) {
    if (!named) continue;
    for (const at of [text.indexOf(start), trimmed.lastIndexOf(start)]) {
      if (at < 0) continue;
      unfilled.lastIndex = at + start.length;
      const place = unfilled.exec(text);
      if (place === null) continue;
      const end = place.index + place[0].length;
      const begins = at < headCharacters && isBlank(text.slice(0, at), frame);
      const ends = trimmed.length - end < endCharacters && isBlank(text.slice(end), frame);
      if (begins || ends) return { marker: start, start: at, end };
    }
  }
  return undefined;
}

function isBlank(text: string, frame: ReadonlySet<string>): boolean {
  let rest = text;
  for (const marker of frame) rest = rest.replaceAll(marker, '');
  return rest.trim() === '';
}
