/**
 * Where a place in a message's text stands in the rendered prompt, and in its tokens. Messages are looked for in their
 * order, so that a short text is not taken for another's. What is not found is not there as it was sent: nothing is said.
 */
import type { RoleMarker } from '../../exchange/model-facts.ts';
import type { ChatRequest, GenerationRequest } from '../../exchange/request.ts';
import { contentText } from '../../exchange/system-text.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';
import type { ContentText } from './content-texts.ts';
import type { TextRange } from './rendered-place.ts';

/** A template that changes every message is not searched through for each of them. */
const mostMisses = 32;
/** A longer text does not stand in a prompt twice by chance. */
const shortText = 64;
const mostCandidates = 16;
/** Characters on either side of a marker by which it is found in a text that the template has changed. */
const besides = 32;

const startsByRequest = new WeakMap<
  GenerationRequest,
  { readonly rendered: string; readonly starts: readonly number[] }
>();

/** UTF-16 offset in the rendered prompt of the text's character `at`, where `marker` stands; undefined if not found. */
export function renderedOffset(
  request: ChatRequest,
  rendered: string,
  roleMarkers: readonly RoleMarker[],
  { text, message }: ContentText,
  { at, marker }: { readonly at: number; readonly marker: string },
): number | undefined {
  const from = message === undefined ? 0 : (messageStarts(request, rendered)[message] ?? 0);
  const needle = text.trim();
  const start = needle.length < shortText ? shortStart() : rendered.indexOf(needle, from);
  const found = start < 0 ? rendered.indexOf(needle) : start;
  if (found >= 0) return found + at - text.indexOf(needle);
  return besideMarker(text, at, marker, rendered, from);

  /** Of the places of a short text the one behind an opening, else the first. */
  function shortStart(): number {
    const first = rendered.indexOf(needle, from);
    let candidate = first;
    for (let tried = 0; candidate >= 0 && tried < mostCandidates; tried += 1) {
      const before = rendered.slice(Math.max(0, candidate - 256), candidate).trimEnd();
      if (roleMarkers.some(({ opening }) => before.endsWith(opening.trim()))) return candidate;
      candidate = rendered.indexOf(needle, candidate + 1);
    }
    return first;
  }
}

/** For each message where the search for its text begins: behind the text of those before it. */
function messageStarts(request: ChatRequest, rendered: string): readonly number[] {
  const known = startsByRequest.get(request);
  if (known?.rendered === rendered) return known.starts;
  const starts: number[] = [];
  let from = 0;
  let misses = 0;
  for (const { value } of request.messages) {
    starts.push(from);
    const text = contentText(value['content']).trim();
    const at = text === '' || misses > mostMisses ? -1 : rendered.indexOf(text, from);
    if (at >= 0) from = at + text.length;
    else if (text !== '') misses += 1;
  }
  startsByRequest.set(request, { rendered, starts });
  return starts;
}

/** By the characters beside the marker on its own line, as far as no template would have escaped them. */
function besideMarker(
  text: string,
  at: number,
  marker: string,
  rendered: string,
  from: number,
): number | undefined {
  const before = /[^\n"\\]*$/.exec(text.slice(Math.max(0, at - besides), at))?.[0] ?? '';
  const end = at + marker.length;
  const after = /^[^\n"\\]*/.exec(text.slice(end, end + besides))?.[0] ?? '';
  if (before.trim() + after.trim() === '') return undefined;
  const context = (before + marker + after).trim();
  const found = [rendered.indexOf(context, from), rendered.indexOf(context)].find((place) => place >= 0);
  return found === undefined ? undefined : found + context.indexOf(marker);
}

interface TokenRange {
  readonly start: number;
  readonly end: number;
}

/** The tokens that a range of the prompt's text lies in, as narrow as the segments tell; undefined if they tell nothing. */
function tokenRange(read: KnownTokens, { start, end }: TextRange): TokenRange | undefined {
  const { ids, segments = [] } = read;
  const first = segments[segmentAt(read, start)];
  if (first === undefined) return undefined;
  const next = segments[segmentAt(read, Math.max(start, end - 1)) + 1];
  return { start: first.tokenStart, end: next?.tokenStart ?? ids.length };
}

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
