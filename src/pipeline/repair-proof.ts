/**
 * The proof that a repair is exact: the repaired request's ids are the old ones without the surplus leading BOS, in
 * every prompt. Where the ids of a long prompt are not known in time, its proven boundaries carry the proof: the
 * surplus markers are tokens of their own, and what stands behind them is the same text in both bodies.
 */
import type { Exchange } from '../exchange/exchange.ts';
import type { HeadRead } from '../exchange/token-read.ts';
import { isRepairProven } from '../policies/rewrite.ts';
import { deadline } from './deadline.ts';
import type { Rereading } from './stages.ts';

/** Repaired prompts consist of known segments, so this is only reached if the engine stalls. */
const proofMs = 500;

export async function proveRepair(
  { heads, prompts }: Exchange,
  rereading: Rereading,
  removedByPrompt: ReadonlyMap<number, number>,
): Promise<boolean> {
  const headsProven =
    rereading.heads.length === heads.length &&
    heads.every((old, index) => sameHead(old, rereading.heads[index], removedByPrompt.get(index) ?? 0));
  if (!headsProven) return false;
  const oldIds = prompts.map((prompt) => (prompt.known ? prompt.ids : undefined));
  if (oldIds.length === 0 || oldIds.includes(undefined)) return true;
  const reread = await deadline(rereading.prompts(), proofMs);
  return (
    reread === undefined ||
    reread.every((now, index) => {
      const old = oldIds[index];
      if (!now.known || old === undefined) return true;
      return isRepairProven(old, now.ids, removedByPrompt.get(index) ?? 0);
    })
  );
}

function sameHead(old: HeadRead, now: HeadRead | undefined, removed: number): boolean {
  if (now === undefined) return false;
  // A prompt that nothing is cut from is the same bytes; its head may be unknown (media).
  if (!old.known || !now.known) return removed === 0;
  return old.ids.length === 0 ? now.ids.length === 0 : isRepairProven(old.ids, now.ids, removed);
}
