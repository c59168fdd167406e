/**
 * Markers of the served model that somebody mistyped in a raw prompt: `<|im_strat|>`, `<|eot_id>`, `<start_of_turn >`. Only where
 * the text stands in the marker's place, as opening, closing or ending a turn; within a turn it is spoken of.
 */
import { editDistance, plainForm } from '../../exchange/near-words.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import { markerFamilies, type TurnOpening } from '../../tokens/marker-families.ts';
import { ownForms, type OwnForms } from './turn-forms.ts';
import { roleName, take } from './turn-signs.ts';

export interface NearMarker {
  readonly marker: string;
  readonly meant: string;
  /** UTF-16 offset of the mistyped one. */
  readonly start: number;
}

/** In angle brackets, with a bar or a name of several words: anything else is a tag of markup. A last letter may follow the bar. */
const markerShaped =
  /< ?(?:[|｜] ?[\p{L}\p{N}_:▁-]{2,40}|\p{L}[\p{L}\p{N}]*[_▁-][\p{L}\p{N}_:▁-]{1,40}) ?(?:[|｜](?:\p{L}(?=>))?)? ?>?/gu;
const digits = /\p{N}+/gu;

/** Texts of such a shape that are looked at in one prompt, and different ones of them: to compare two takes long. */
const mostShaped = 8192;
const mostDifferent = 256;

/** As many characters before a place as a turn's end and its line end, or its opening and its role, take. */
const besideCharacters = 128;
/** A first turn stands behind little more than BOS. */
const headCharacters = 200;

export function nearMarker(text: string, facts: ModelFacts): NearMarker | undefined {
  const forms = ownForms(facts);
  const own = turnMarkers(forms);
  // Native, and most prompts end here.
  if (own.length === 0 || !text.includes('<')) return undefined;
  const taken = takenBy(facts, forms);
  const meantBy = new Map<string, string | undefined>();
  for (const { 0: marker, index: start } of take(text.matchAll(markerShaped), mostShaped)) {
    if (taken.has(marker)) continue;
    if (meantBy.size === mostDifferent) return undefined;
    if (!meantBy.has(marker)) meantBy.set(marker, nearest(marker, own));
    const meant = meantBy.get(marker);
    const end = start + marker.length;
    if (meant !== undefined && standsFor(meant, text, start, end, forms)) return { marker, meant, start };
  }
  return undefined;
}

function turnMarkers({ openings, ends }: OwnForms): string[] {
  const all = [...openings.flatMap(({ start, close }) => [start, close]), ...ends];
  return [...new Set(all)].filter((text) => /^<.+>$/u.test(text));
}

/** What is a marker of this vocabulary or of some family is no misspelling of another. */
function takenBy({ markers, absentMarkers = [] }: ModelFacts, { frame }: OwnForms): ReadonlySet<string> {
  const families = markerFamilies.flatMap(({ openings, ends, heads }) => [
    ...openings.flatMap(({ start, close }) => [start, close]),
    ...ends,
    ...heads,
  ]);
  return new Set([...[...markers, ...absentMarkers].map(({ text }) => text), ...frame, ...families]);
}

/** The one marker that is near enough to be meant; undefined where there are two. */
function nearest(written: string, own: readonly string[]): string | undefined {
  const near = own.filter((one) => isNear(written, one));
  return near.length === 1 ? near[0] : undefined;
}

/** Numbered ones are others of the same sort (`<SPECIAL_12>`); of a short name only bars, blanks and case may be wrong. */
function isNear(written: string, marker: string): boolean {
  const [name, right] = [plainForm(written), plainForm(marker)];
  if (name === right) return true;
  if (name.replace(digits, '') === right.replace(digits, '')) return false;
  const most = right.length >= 7 ? 2 : right.length >= 5 ? 1 : 0;
  return Math.abs(written.length - marker.length) <= most && editDistance(written, marker) <= most;
}

function standsFor(meant: string, text: string, start: number, end: number, forms: OwnForms): boolean {
  const { openings, ends, frame } = forms;
  const before = text.slice(Math.max(0, start - besideCharacters), start);
  const after = text.slice(end, end + besideCharacters);
  const opened = openings.find((opening) => opening.start === meant && opensAt(after, opening) !== undefined);
  if (opened !== undefined) {
    const isFirst = start < headCharacters && withoutFrame(text.slice(0, start), frame) === '';
    const isNext = ends.some((one) => before.trimEnd().endsWith(one));
    const isLast = text.slice(end + (opensAt(after, opened) ?? 0)).trim() === '';
    if (isFirst || isNext || isLast) return true;
  }
  const next = after.trimStart();
  if (ends.includes(meant) && openings.some((opening) => next.startsWith(opening.start))) return true;
  return openings.some(
    (opening) => opening.close === meant && opening.named && endsWithRole(before, opening.start),
  );
}

const role = new RegExp(`^${roleName}`);
const onlyRole = new RegExp(`^${roleName}$`);

/** As many characters as what stands behind the marker of an opening takes; undefined where it is none. */
function opensAt(after: string, { named, close }: TurnOpening): number | undefined {
  const name = named ? role.exec(after)?.[0] : '';
  if (name === undefined) return undefined;
  const rest = after.slice(name.length);
  const isClosed = close === '\n' ? rest === '' || /^\r?\n/.test(rest) : rest.startsWith(close);
  return isClosed ? name.length + close.length : undefined;
}

function endsWithRole(before: string, start: string): boolean {
  const at = before.lastIndexOf(start);
  return at >= 0 && onlyRole.test(before.slice(at + start.length));
}

function withoutFrame(text: string, frame: ReadonlySet<string>): string {
  let rest = text;
  for (const marker of frame) rest = rest.replaceAll(marker, '');
  return rest.trim();
}
