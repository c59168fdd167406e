/** Where the turns of a rendered prompt are, as its role markers cut it. Reads proven segments; guesses no boundary. */
import type { ModelFacts, RoleMarker } from '../exchange/model-facts.ts';
import type { KnownTokens } from '../exchange/token-read.ts';

export interface RawTurn {
  readonly role: string;
  /** Keys of the segments from this turn's opening up to the next one. */
  readonly segmentKeys: readonly string[];
}

export interface RawTurns {
  /** The text before the first turn, instructions included; '' if there is none. */
  readonly head: string;
  /** Without system turns at the start, and without a trailing assistant turn: that one is the reply's beginning. */
  readonly turns: readonly RawTurn[];
}

interface Opening {
  readonly role: string;
  readonly segment: number;
}

/** Undefined if text or segments are not known, or there is no user turn. */
export function rawTurns(tokens: KnownTokens, facts: ModelFacts): RawTurns | undefined {
  const { text, segments } = tokens;
  if (text === undefined || segments === undefined) return undefined;
  const openings = findOpenings(tokens, facts).filter(
    ({ role }, index, all) =>
      role !== 'system' || all.slice(0, index).some((earlier) => earlier.role !== 'system'),
  );
  const first = openings[0];
  if (first === undefined || !openings.some(({ role }) => role === 'user')) return undefined;
  const turns = openings.map(({ role, segment }, index) => ({
    role,
    segmentKeys: segments.slice(segment, openings[index + 1]?.segment).map(({ key }) => key),
  }));
  if (turns.at(-1)?.role === 'assistant') turns.pop();
  return { head: text.slice(0, segments[first.segment]?.textStart), turns };
}

/** Token index at which the prompt's last turn opens if it is the assistant's; undefined if another's or not known. */
export function trailingAssistantStart(tokens: KnownTokens, facts: ModelFacts): number | undefined {
  const { text, segments = [] } = tokens;
  const last = findOpenings(tokens, facts).at(-1);
  if (last?.role === 'assistant') return segments[last.segment]?.tokenStart;
  // Some templates open an answer that is asked for in another way than one of the history.
  const asked = facts.generationPrompt?.text;
  if (text === undefined || asked === undefined) return undefined;
  const segment = segments.findLastIndex(({ textStart }) => text.startsWith(asked, textStart));
  return segment > (last?.segment ?? -1) ? segments[segment]?.tokenStart : undefined;
}

function findOpenings({ text, segments }: KnownTokens, facts: ModelFacts): Opening[] {
  if (text === undefined || segments === undefined) return [];
  // A template that writes instructions into the user's turn has one opening for both roles: the turn is the user's.
  const rank = ({ role, opening }: RoleMarker): number => opening.length * 2 + (role === 'system' ? 0 : 1);
  const longestFirst = facts.roleMarkers.toSorted((a, b) => rank(b) - rank(a));
  return segments.flatMap(({ textStart }, segment) => {
    const opening = longestFirst.find((marker) => text.startsWith(marker.opening, textStart));
    return opening === undefined ? [] : [{ role: opening.role, segment }];
  });
}
