/**
 * Where a place in a message's text stands in the rendered prompt, and in its tokens. Messages are looked for in their
 * order, so that a short text is not taken for another's. What is not found is not there as it was sent: nothing is said.
 */
import type { RoleMarker } from '../../exchange/model-facts.ts';
import type { ChatRequest, GenerationRequest } from '../../exchange/request/request.ts';
import { contentText, instructs } from '../../exchange/request/system-text.ts';
import { placeOf } from '../../exchange/written/text-place.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';
import type { ContentText } from './content-texts.ts';
import type { TextRange } from './rendered-place.ts';

/** Searches of the whole prompt that may find nothing, per request: a template may change every message. */
const mostMisses = 8;
/** A longer text does not stand in a prompt twice by chance. */
const shortText = 64;
const mostCandidates = 16;
/** Characters on either side of a marker by which it is found in a text that the template has changed. */
const besides = 32;

/** Where each message's text stands in a rendered prompt. */
interface Places {
  readonly rendered: string;
  /** Behind the texts of the messages before. */
  readonly starts: readonly number[];
  /** Where the message's own text was found; -1 if it was not. */
  readonly found: readonly number[];
  /** What was looked for in all of the prompt, and where it was found: asked again, the answer is the same. */
  readonly whole: Map<string, number>;
  misses: number;
}

const placesByRequest = new WeakMap<GenerationRequest, Places>();

/**
 * UTF-16 offset in the rendered prompt of the text's character `at`, where `marker` stands; undefined if not found.
 * It is looked for between the messages before and after its own, and in all of the prompt only a bounded number of times.
 */
export function renderedOffset(
  request: ChatRequest,
  rendered: string,
  roleMarkers: readonly RoleMarker[],
  { text, message }: ContentText,
  { at, marker }: { readonly at: number; readonly marker: string },
): number | undefined {
  const places = placesOf(request, rendered);
  const needle = text.trim();
  const offset = at - (text.length - text.trimStart().length);
  const context = besideMarker(text, at, marker) ?? behindMarker(text, at, marker);
  const near = windowOf(request, places, message);
  const there = rendered.slice(near.start, near.end);
  const inPlace = placeOfNeedle(there, needle, roleMarkers);
  if (inPlace >= 0) return near.start + inPlace + offset;
  const anywhere = inWhole(places, needle);
  if (anywhere >= 0) return anywhere + offset;
  if (context === undefined) return undefined;
  const beside = there.indexOf(context.text);
  if (beside >= 0) return near.start + beside + context.at;
  const far = inWhole(places, context.text);
  return far < 0 ? undefined : far + context.at;
}

/** Of the places of a short text the one behind an opening, else the first; -1 if there is none. */
function placeOfNeedle(within: string, needle: string, roleMarkers: readonly RoleMarker[]): number {
  const first = placeOf(within, needle);
  if (needle.length >= shortText) return first;
  let candidate = first;
  for (let tried = 0; candidate >= 0 && tried < mostCandidates; tried += 1) {
    const before = within.slice(Math.max(0, candidate - 256), candidate).trimEnd();
    if (roleMarkers.some(({ opening }) => before.endsWith(opening.trim()))) return candidate;
    candidate = within.indexOf(needle, candidate + 1);
  }
  return first;
}

function inWhole(places: Places, text: string): number {
  const known = places.whole.get(text);
  if (known !== undefined) return known;
  if (places.misses >= mostMisses) return -1;
  const at = placeOf(places.rendered, text);
  places.whole.set(text, at);
  if (at < 0) places.misses += 1;
  return at;
}

/** From the end of the text before a message's own to the beginning of the one after it; tools stand before all turns. */
function windowOf(
  { messages }: ChatRequest,
  { starts, found, rendered }: Places,
  message: number | undefined,
): TextRange {
  const isAfter = (index: number): boolean =>
    message === undefined ? messages[index] !== undefined && !instructs(messages[index]) : index > message;
  const next = found.find((at, index) => at >= 0 && isAfter(index));
  return { start: message === undefined ? 0 : (starts[message] ?? 0), end: next ?? rendered.length };
}

function placesOf(request: ChatRequest, rendered: string): Places {
  const known = placesByRequest.get(request);
  if (known?.rendered === rendered) return known;
  const starts: number[] = [];
  const found: number[] = [];
  let from = 0;
  let misses = 0;
  for (const { value } of request.messages) {
    starts.push(from);
    const text = contentText(value['content']).trim();
    const at = text === '' || misses >= mostMisses ? -1 : placeOf(rendered, text, from);
    found.push(at);
    if (at >= 0) from = at + text.length;
    else if (text !== '') misses += 1;
  }
  const places = { rendered, starts, found, whole: new Map<string, number>(), misses: 0 };
  placesByRequest.set(request, places);
  return places;
}

/** The marker with the characters beside it on its own line, as far as no template would have escaped them. */
function besideMarker(
  text: string,
  at: number,
  marker: string,
): { readonly text: string; readonly at: number } | undefined {
  const before = /[^\n"\\]*$/.exec(text.slice(Math.max(0, at - besides), at))?.[0] ?? '';
  const end = at + marker.length;
  const after = /^[^\n"\\]*/.exec(text.slice(end, end + besides))?.[0] ?? '';
  if (before.trim() + after.trim() === '') return undefined;
  const context = (before + marker + after).trim();
  return { text: context, at: context.indexOf(marker) };
}

/**
 * For a marker with nothing beside it on its line: with what follows on the next ones, as JSON writes it. A text that is
 * JSON itself, such as the arguments of a call, is taken as it is.
 */
function behindMarker(
  text: string,
  at: number,
  marker: string,
): { readonly text: string; readonly at: number } | undefined {
  const end = at + marker.length;
  const following = text.slice(end, end + besides).trimEnd();
  // Letters beyond ASCII may be written as escapes.
  const plain = /^[\s!-~]*/.exec(following)?.[0].trimEnd() ?? '';
  const after = plain.trim() === '' ? following : plain;
  if (after.trim() === '') return undefined;
  const isJson = text[at - 1] === '"' && after.startsWith('\\');
  const written = isJson ? after.replace(/\\+$/, '') : JSON.stringify(after).slice(1, -1);
  return { text: marker + written, at: 0 };
}

interface TokenRange {
  readonly start: number;
  readonly end: number;
}

/** The tokens that a range of the prompt's text lies in, as narrow as the segments tell; undefined if they tell nothing. */
export function tokenRange(read: KnownTokens, { start, end }: TextRange): TokenRange | undefined {
  const { ids, segments = [] } = read;
  const first = segments[segmentAt(read, start)];
  if (first === undefined) return undefined;
  const next = segments[segmentAt(read, Math.max(start, end - 1)) + 1];
  return { start: first.tokenStart, end: next?.tokenStart ?? ids.length };
}

/** The tokens between two texts, without those that the second one shares; all that the place lies in if they share all. */
export function gapTokens(read: KnownTokens, { start, end }: TextRange): TokenRange | undefined {
  const first = read.segments?.[segmentAt(read, start)];
  const next = read.segments?.[segmentAt(read, end)];
  if (first === undefined || next === undefined || end >= (read.text?.length ?? 0)) {
    return tokenRange(read, { start, end });
  }
  return next.tokenStart > first.tokenStart
    ? { start: first.tokenStart, end: next.tokenStart }
    : tokenRange(read, { start, end });
}

/**
 * Where the second of two markers of a text stands in the prompt, of which the first was found: a line end between them
 * may be written as an escape.
 */
export function placeOfSecond(
  rendered: string,
  at: number,
  first: { readonly text: string; readonly start: number },
  second: { readonly text: string; readonly start: number },
): number {
  const apart = second.start - first.start;
  if (apart === 0 || rendered.startsWith(second.text, at + apart)) return at + apart;
  const behind = at + first.text.length;
  const next = rendered.slice(behind, behind + apart * longestEscape).indexOf(second.text);
  return next < 0 ? at + apart : behind + next;
}

/** `\u000a` for one character. */
const longestEscape = 6;

/** From the token of one marker to that of another, both included; wider where they were not cut at. */
export function markerTokens(read: KnownTokens, first: number, last: number): TokenRange | undefined {
  const range = tokenRange(read, { start: first, end: last + 1 });
  const segment = read.segments?.[segmentAt(read, last)];
  if (range === undefined || segment?.textStart !== last) return range;
  return { start: range.start, end: segment.tokenStart + 1 };
}

/** Index of the segment that the offset is in; 0 if there is none. */
function segmentAt({ segments = [] }: KnownTokens, offset: number): number {
  let low = 0;
  let high = Math.max(0, segments.length - 1);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((segments[middle]?.textStart ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
