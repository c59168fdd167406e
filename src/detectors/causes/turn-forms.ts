/**
 * How the served model's turns are written: the markers of its learnt role openings and turn end, taken apart so that a
 * turn can be recognised whatever role it names. Learnt facts only; no family is assumed.
 */
import type { ModelFacts, RoleMarker } from '../../exchange/model-facts.ts';
import type { TurnForms, TurnOpening } from '../../tokens/marker-families.ts';
import { compileMarkers, markerCandidates, type MarkerPattern } from '../../tokens/markers.ts';

export interface OwnForms extends TurnForms {
  /** Markers that open, close or end a turn, or stand around the whole prompt: never content. */
  readonly frame: ReadonlySet<string>;
  /** Finds the vocabulary's markers and those of the frame. */
  readonly pattern: MarkerPattern;
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
  const { roleMarkers, turnEnds = [], bos, eos, markers } = facts;
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
  const texts = new Set([...markers.map(({ text }) => text), ...frame]);
  return {
    openings: [...openings.values()],
    ends,
    frame,
    pattern: compileMarkers([...texts].map((text) => ({ text, id: -1 }))),
  };
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
