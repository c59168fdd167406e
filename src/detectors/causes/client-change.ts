/** What the client changed between two turns, from the digests of both. Sees no text, so it names parts, not words. */
import type { BreakCause } from '../../exchange/finding.ts';
import type { LineDigests, PartDigest, RequestDigest } from '../../exchange/session-match.ts';

/** One changed part of the request. */
export interface ClientChange {
  readonly part: 'system' | 'tools' | 'history' | 'options';
  readonly cause: BreakCause;
  /** First index at which the part differs: a system line, a tool, a message (system ones not counted); 0 for options. */
  readonly index: number;
  /** Index after the last item that differs, counted in the newer request. */
  readonly end: number;
  /** Of the instructions that stand behind a turn, the index of those that stood at `index` before and have moved. */
  readonly moved?: number;
}

/** The changed parts, in the order in which most templates render them. */
export function clientChanges(
  before: RequestDigest,
  now: RequestDigest,
  commonMessages: number,
): readonly ClientChange[] {
  const changes: ClientChange[] = [];
  const system = systemChange(before.system ?? noLines, now.system ?? noLines);
  const tools = toolsChange(before.tools, now.tools);
  if (system !== undefined) changes.push(system);
  if (tools !== undefined) changes.push(tools);
  if (before.options !== now.options) changes.push({ part: 'options', cause: 'unknown', index: 0, end: 1 });
  if (commonMessages < before.messages.length) {
    const end = now.messages.length;
    changes.push({ part: 'history', cause: 'history-edited', index: commonMessages, end });
  }
  const moved = movedInstructions(before, now);
  if (moved !== undefined) changes.push(moved);
  return changes;
}

/** Instructions among the turns that stand elsewhere now: a note that is kept at a fixed distance from the end, say. */
function movedInstructions(before: RequestDigest, now: RequestDigest): ClientChange | undefined {
  const [places, later] = [before.later ?? [], now.later ?? []];
  const moved = places.findIndex((place, index) => later[index] !== place);
  const [was, is] = [places[moved], later[moved]];
  if (was === undefined) {
    // Those that stood in front of the first turn have no place in the list, and no text is new.
    return later.length > places.length && saysTheSame(before, now)
      ? { part: 'history', cause: 'history-edited', index: 0, end: 1, moved: 0 }
      : undefined;
  }
  const index = Math.min(was, is ?? was);
  return { part: 'history', cause: 'history-edited', index, end: index + 1, moved };
}

function saysTheSame(before: RequestDigest, now: RequestDigest): boolean {
  return firstDifference((before.system ?? noLines).lines, (now.system ?? noLines).lines) === undefined;
}

const noLines: LineDigests = {
  lines: [],
  timeMasked: [],
  dateMasked: [],
  attributionLines: [],
  wordSketch: [],
};

function systemChange(before: LineDigests, now: LineDigests): ClientChange | undefined {
  const index = firstDifference(before.lines, now.lines);
  if (index === undefined) return undefined;
  return {
    part: 'system',
    cause: lineCause(before, now, index),
    index,
    end: lastDifference(before.lines, now.lines),
  };
}

function lineCause(before: LineDigests, now: LineDigests, index: number): BreakCause {
  if (before.attributionLines.includes(index) || now.attributionLines.includes(index))
    return 'attribution-line';
  if (index >= before.lines.length || index >= now.lines.length) return 'volatile-text';
  if (before.timeMasked[index] === now.timeMasked[index]) return 'volatile-time';
  if (before.dateMasked[index] === now.dateMasked[index]) return 'volatile-date';
  return 'volatile-text';
}

function toolsChange(before: readonly PartDigest[], now: readonly PartDigest[]): ClientChange | undefined {
  const values = [before.map(({ value }) => value), now.map(({ value }) => value)] as const;
  const index = firstDifference(...values);
  if (index !== undefined) {
    const sameTools = values[0].toSorted().join() === values[1].toSorted().join();
    return {
      part: 'tools',
      cause: sameTools ? 'tools-reordered' : 'tools-changed',
      index,
      end: lastDifference(...values),
    };
  }
  const rewritten = firstDifference(
    before.map(({ bytes }) => bytes),
    now.map(({ bytes }) => bytes),
  );
  if (rewritten === undefined) return undefined;
  return { part: 'tools', cause: 'unknown', index: rewritten, end: now.length };
}

function firstDifference(before: readonly string[], now: readonly string[]): number | undefined {
  const end = Math.max(before.length, now.length);
  for (let index = 0; index < end; index += 1) if (before[index] !== now[index]) return index;
  return undefined;
}

/** Index in `now` after the last item that differs, the equal items at both ends set aside. */
function lastDifference(before: readonly string[], now: readonly string[]): number {
  let equal = 0;
  while (equal < now.length && before.at(-1 - equal) === now.at(-1 - equal)) equal += 1;
  return now.length - equal;
}
