/**
 * How the served model's turns are written: the markers of its learnt role openings and turn end, taken apart so that a
 * turn can be recognised whatever role it names. Learnt facts only; no family is assumed.
 */
import type { Marker, ModelFacts, RoleMarker } from '../../exchange/model-facts.ts';
import type { TurnForms, TurnOpening } from '../../tokens/marker-families.ts';
import { compileMarkers, escapeRegExp, markerCandidates, type MarkerPattern } from '../../tokens/markers.ts';

export interface OwnForms extends TurnForms {
  /** Markers that open, close or end a turn, or stand around the whole prompt: never content. */
  readonly frame: ReadonlySet<string>;
  /** Markers that no text should hold: the frame, and what is a token only where special tokens are parsed. */
  readonly never: ReadonlySet<string>;
  /** Finds those, and the longer markers that one of them is a part of. */
  readonly pattern: MarkerPattern;
  /** What each of them begins with; text without one of these holds none. */
  readonly beginnings: readonly string[];
  /** Finds what may open a turn; undefined where nothing does. */
  readonly opening: RegExp | undefined;
  /** Matches at a place the same with what may stand in front of it on its line. */
  readonly beginning: RegExp | undefined;
}

/** Marker-like texts that one opening can hold; more are no opening. */
const mostPieces = 16;

const formsByFacts = new WeakMap<ModelFacts, OwnForms>();

export function ownForms(facts: ModelFacts): OwnForms {
  const known = formsByFacts.get(facts);
  if (known !== undefined) return known;
  const forms = learnForms(facts);
  formsByFacts.set(facts, forms);
  return forms;
}

function learnForms(facts: ModelFacts): OwnForms {
  const { roleMarkers, turnEnds = [], bos, eos, markers, mediaMarker, picturePlaces = [] } = facts;
  const ends = [
    ...new Set([...turnEnds.flatMap((end) => piecesOf(end, facts)[0]?.marker ?? []), eos?.text ?? '']),
  ].filter((text) => text !== '' && roleMarkers.length > 0);
  const openings = new Map<string, TurnOpening>();
  for (const roleMarker of roleMarkers) {
    const opening = openingOf(roleMarker, facts);
    if (opening === undefined || ends.includes(opening.start)) continue;
    openings.set(JSON.stringify([opening.start, opening.close]), opening);
  }
  const frame = new Set(
    [
      ...[...openings.values()].flatMap(({ start, close }) => [start, close]),
      ...ends,
      bos?.text ?? '',
    ].filter((text) => text.trim() !== ''),
  );
  const media = new Set([mediaMarker, ...picturePlaces.map(({ text }) => text)]);
  const isNever = ({ text, kind = kindByForm(text) }: Marker): boolean =>
    kind === 'control' || media.has(text);
  const never = new Set([...markers.filter(isNever).map(({ text }) => text), ...frame]);
  const longer = markers.filter(({ text }) => [...never].some((one) => text.includes(one)));
  const texts = [...new Set([...never, ...longer.map(({ text }) => text)])];
  const opening = oneOf([...openings.values()].map(openingSource));
  const head = oneOf([String.raw`[^\S\n]`, ...[...frame].map(escapeRegExp)]);
  return {
    openings: [...openings.values()],
    ends,
    frame,
    never,
    pattern: compileMarkers(texts.map((text) => ({ text, id: -1 }))),
    beginnings: beginningsOf(texts),
    opening: opening === undefined ? undefined : new RegExp(opening, 'gu'),
    beginning:
      opening === undefined ? undefined : new RegExp(`${head ?? ''}{0,${mostHeads}}${opening}`, 'uy'),
  };
}

/**
 * Where the engine does not tell kinds (vLLM reads control tokens in every text): by how the marker is written, as llama.cpp
 * has it when it makes a model file (`does_token_look_special` in its convert_hf_to_gguf.py). Others may be meant to stand in
 * content, as `<think>` and HTML tags are.
 */
function kindByForm(text: string): Marker['kind'] {
  return /^<([|｜]).*\1>$/u.test(text) ? 'control' : undefined;
}

/** Two characters where all have the same: `<` alone stands in any code. */
function beginningsOf(texts: readonly string[]): readonly string[] {
  const two = new Set(texts.map((text) => text.slice(0, 2)));
  return [...(two.size === 1 ? two : new Set(texts.map((text) => text.slice(0, 1))))];
}

/** Blanks and markers that may stand in front of a conversation's first opening on its line. */
const mostHeads = 64;

function oneOf(sources: readonly string[]): string | undefined {
  return sources.length === 0 ? undefined : `(?:${sources.join('|')})`;
}

/** Matches what may open a turn; whether it does is judged where it is found. */
function openingSource({ start, named, close }: TurnOpening): string {
  const role = named ? String.raw`[A-Za-z_][\w\-]{0,30}` : '';
  return escapeRegExp(start) + role + (close === '\n' ? String.raw`(?:\r?\n|$)` : escapeRegExp(close));
}

interface Piece {
  readonly marker: string;
  /** The text up to the next marker. */
  readonly after: string;
}

function piecesOf(text: string, { markers }: ModelFacts): Piece[] {
  const texts = [...markers.map((marker) => marker.text), ...markerCandidates(text, mostPieces)];
  const { pattern } = compileMarkers(texts.map((one) => ({ text: one, id: -1 })));
  if (pattern === undefined) return [];
  const found = [...text.matchAll(pattern)];
  return found.map((match, index) => ({
    marker: match[0],
    after: text.slice(match.index + match[0].length, found[index + 1]?.index),
  }));
}

const roleName = /^[A-Za-z_][\w-]{0,30}/;

/** The first shape in the learnt text that can open a turn; what the template writes behind it is no part of it. */
function openingOf({ role, opening }: RoleMarker, facts: ModelFacts): TurnOpening | undefined {
  const pieces = piecesOf(opening, facts);
  for (const [index, { marker, after }] of pieces.entries()) {
    if (role === 'tool' && isContent(marker, facts)) return undefined;
    const next = pieces[index + 1]?.marker;
    const name = roleName.exec(after)?.[0];
    if (name !== undefined) {
      const rest = after.slice(name.length);
      if (rest === '' && next !== undefined) return { start: marker, named: true, close: next };
      return rest.startsWith('\n') ? { start: marker, named: true, close: '\n' } : undefined;
    }
    if (after.trim() !== '') return undefined;
    // What stands before the marker of the role, without a space, is the prompt's or the turn's beginning.
    const goesOn = after === '' && next !== undefined && !isContent(next, facts);
    if (!goesOn) return { start: marker, named: false, close: after.startsWith('\n') ? '\n' : '' };
  }
  return undefined;
}

/** Markers that a template writes inside a turn: those of reasoning and of tools. */
function isContent(marker: string, { markers, thinkTail }: ModelFacts): boolean {
  if (thinkTail?.text.includes(marker) === true) return true;
  return markers.some(({ text, kind }) => text === marker && kind === 'user-defined');
}
