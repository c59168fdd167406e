/** The live heads of one session: which of them a new turn goes on from, repeats or joins. Pure. */
import type { SessionMatch, Turn } from '../exchange/session-match.ts';
import { commonPrefixLength } from '../tokens/common-prefix.ts';
import { sameTools } from './ancestor.ts';

export interface HeadsAfter {
  /** Oldest first. */
  readonly heads: readonly Turn[];
  /** Heads that had to go because the session had its full number. */
  readonly dropped: number;
}

/**
 * The heads with the turn among them. It takes the place of the turns that it goes on from; if a later turn already
 * went on from it, nothing changes.
 */
export function placeTurn(
  heads: readonly Turn[],
  turn: Turn,
  match: SessionMatch,
  maxHeads: number,
): HeadsAfter {
  if (heads.some((head) => head.sequence > turn.sequence && isPartOf(turn, head))) {
    return { heads, dropped: 0 };
  }
  const kept = heads.filter(
    (head) => !(replaces(turn, head, match) || (head.sequence < turn.sequence && isPartOf(head, turn))),
  );
  const dropped = Math.max(0, kept.length + 1 - maxHeads);
  return { heads: [...kept.slice(dropped), turn], dropped };
}

/** True if the turn goes on from the head that it was matched with. A turn without its tools leaves the head live. */
function replaces(turn: Turn, head: Turn, { ancestor, branches }: SessionMatch): boolean {
  // What is cached under another salt is there still.
  if (turn.salt !== head.salt) return false;
  if (branches || ancestor?.sequence !== head.sequence || head.sequence > turn.sequence) return false;
  return turn.digest === undefined || head.digest === undefined || sameTools(turn.digest, head.digest);
}

/** True if all that lasts of the earlier turn (its tail does not) is at the start of the later one. */
function isPartOf(earlier: Turn, later: Turn): boolean {
  if (earlier.salt !== later.salt) return false;
  const lasting = earlier.ids.length - earlier.tail.generationPrompt - earlier.tail.think;
  return commonPrefixLength(earlier.ids, later.ids) >= lasting;
}
