/**
 * Fill-in prompts in markers that are not the model's: the completion of another family's editor plug-in. A text that only
 * speaks of such markers does not begin with one and hold another.
 */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import { fillInMarkers, fillInSpellings } from '../../tokens/fill-in-markers.ts';

const spaced: ReadonlySet<string> = new Set(
  fillInSpellings.flat().flatMap((marker) => (marker.startsWith('▁') ? [marker, marker.slice(1)] : [])),
);

export interface ForeignFillIn {
  /** The first of its markers that stands in the text, and where. */
  readonly marker: string;
  readonly start: number;
  /** Place of the last one. */
  readonly last: number;
  /** The served model's own, prefix, suffix and middle; [] if it has none. */
  readonly own: readonly string[];
}

/**
 * Undefined also where nobody has asked which markers the vocabulary lacks.
 * @param text without any marker of the model's own
 */
export function foreignFillIn(
  text: string,
  { markers, absentMarkers }: ModelFacts,
): ForeignFillIn | undefined {
  if (absentMarkers === undefined) return undefined;
  const own = fillInMarkers(markers).map((marker) => marker.text);
  const begun = text.length - text.trimStart().length;
  const ended = text.trimEnd().length;
  for (const spelling of fillInSpellings) {
    // Tokens with a space of SentencePiece's in front are not always seen to be markers, so the model may have these.
    if (own.length === 0 && spelling.some((marker) => spaced.has(marker))) continue;
    const hits = spelling
      .map((marker) => ({ marker, start: text.indexOf(marker) }))
      .filter(({ start }) => start >= 0)
      .toSorted((a, b) => a.start - b.start);
    const [first] = hits;
    const last = hits.at(-1);
    if (first === undefined || last === undefined || first === last) continue;
    const middle = spelling.at(-1) ?? '';
    if (first.start !== begun && !text.slice(0, ended).endsWith(middle)) continue;
    return { ...first, last: last.start, own };
  }
  return undefined;
}
