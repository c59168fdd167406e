/**
 * Cutting a prompt at its markers. A tokenizer matches markers before anything else, so the ids of a prompt are the
 * ids of its segments one after the other. Only markers that are proven to be hard boundaries may be used here.
 */
import type { Marker } from '../exchange/model-facts.ts';

/** A piece of the prompt from one marker up to the next; the first may start with ordinary text. */
export interface Segment {
  readonly text: string;
  /** UTF-16 offset of the segment in the prompt. */
  readonly start: number;
}

export interface MarkerPattern {
  /** Matches any marker, the longest first, as llama.cpp's tokenizer_st_partition does. Undefined without markers. */
  readonly pattern: RegExp | undefined;
  readonly idByText: ReadonlyMap<string, number>;
  readonly textById: ReadonlyMap<number, string>;
  /** The same ids, for prompts of many. */
  readonly ids: MarkerIds;
}

/** Tells which ids are markers. */
export type MarkerIds = Pick<ReadonlySet<number>, 'has'>;

/** Asked of each id of each prompt, so looked up by index: a set takes ten times as long. */
class IndexedIds implements MarkerIds {
  readonly #flags: Uint8Array;

  constructor(ids: readonly number[], most: number) {
    this.#flags = new Uint8Array(most + 1);
    for (const id of ids) this.#flags[id] = 1;
  }

  has(id: number): boolean {
    return this.#flags[id] === 1;
  }
}

/** Vocabularies are smaller; what an engine says otherwise must not take memory. */
const mostIndexed = 1 << 22;

const regexSyntax = /[\\^$.*+?()[\]{}|/]/g;

/** The source of a pattern that matches the text and nothing else. */
export function escapeRegExp(text: string): string {
  return text.replace(regexSyntax, '\\$&');
}

export function compileMarkers(markers: readonly Marker[]): MarkerPattern {
  const texts = markers.map((marker) => marker.text).toSorted((a, b) => b.length - a.length);
  const source = texts.map(escapeRegExp).join('|');
  return {
    pattern: source === '' ? undefined : new RegExp(source, 'gu'),
    idByText: new Map(markers.map((marker) => [marker.text, marker.id])),
    textById: new Map(markers.map((marker) => [marker.id, marker.text])),
    ids: markerIdsOf(markers.map(({ id }) => id)),
  };
}

function markerIdsOf(ids: readonly number[]): MarkerIds {
  const most = ids.reduce((highest, id) => Math.max(highest, id), -1);
  return most < mostIndexed ? new IndexedIds(ids, most) : new Set(ids);
}

/** Cuts before every marker, never after one: what a tokenizer does behind a marker stays inside its segment. */
export function cutAtMarkers(text: string, { pattern }: MarkerPattern): Segment[] {
  if (text === '') return [];
  if (pattern === undefined) return [{ text, start: 0 }];
  const segments: Segment[] = [];
  let start = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > start) segments.push({ text: text.slice(start, match.index), start });
    start = match.index;
  }
  segments.push({ text: text.slice(start), start });
  return segments;
}

/** The same of a prompt's ids. */
export function cutIdsAtMarkers(ids: Uint32Array, markerIds: MarkerIds): Uint32Array[] {
  const parts: Uint32Array[] = [];
  let from = 0;
  for (let at = 1; at <= ids.length; at += 1) {
    if (at < ids.length && !markerIds.has(ids[at] ?? -1)) continue;
    parts.push(ids.subarray(from, at));
    from = at;
  }
  return parts;
}

/**
 * The ids of the markers that a text begins with, as far as they follow one another. Exact without asking the engine,
 * because each of them is a proven boundary; ends at the first character that belongs to no marker.
 */
export function leadingMarkerIds(text: string, { pattern, idByText }: MarkerPattern, most = 1024): number[] {
  const ids: number[] = [];
  if (pattern === undefined) return ids;
  const sticky = new RegExp(pattern.source, 'uy');
  while (ids.length < most) {
    const match = sticky.exec(text);
    if (match === null) break;
    const id = idByText.get(match[0]);
    if (id === undefined) break;
    ids.push(id);
  }
  return ids;
}

/**
 * Texts that look like a marker of some family: `<|name|>`, `<name>`, `</name>`, `[NAME]`, `<｜name｜>`. Candidates only;
 * whether one is a boundary in the served vocabulary is proven by the engine.
 */
const markerLike =
  /<[|｜][^|｜<>\s]{1,60}[|｜]>|<\/?[A-Za-z_][\w:.-]{0,60}>|<\|?[A-Za-z_][\w]{0,60}\|?>|\[\/?[A-Za-z][A-Za-z_]{1,30}\]/gu;

export function markerCandidates(text: string, most: number): Set<string> {
  const found = new Set<string>();
  for (const match of text.matchAll(markerLike)) {
    found.add(match[0]);
    if (found.size >= most) break;
  }
  return found;
}

/** True if the whole text is one candidate. */
export function isMarkerLike(text: string): boolean {
  return markerCandidates(text, 1).has(text);
}
