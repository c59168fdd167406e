/** Applies the exact repairs of findings to a body, and proves by the new ids that nothing else came of it. */
import { applyEdits, type Edit } from '../exchange/edits.ts';
import type { Finding, RepairProof } from '../exchange/finding.ts';

export interface Rewrite {
  readonly body: Buffer;
  /** What must be shown of each repaired prompt; prompts that are not listed must stay as they are. */
  readonly proofs: ReadonlyMap<number, RepairProof>;
}

/**
 * The body with all repairs made; undefined if there are none, or if two of them want to change the same bytes in
 * different ways. The same edit wanted twice is made once.
 */
export function rewriteBody(body: Buffer, findings: readonly Finding[]): Rewrite | undefined {
  const edits = new Map<string, Edit>();
  const proofs = new Map<number, RepairProof>();
  for (const { repair, promptIndex } of findings) {
    if (repair === undefined) continue;
    for (const edit of repair.edits)
      edits.set(JSON.stringify([edit.start, edit.end, edit.replacement]), edit);
    proofs.set(promptIndex, proofOfBoth(proofs.get(promptIndex), repair.proof));
  }
  if (edits.size === 0) return undefined;
  const ordered = [...edits.values()].toSorted((a, b) => a.start - b.start);
  const overlap = ordered.some((edit, index) => edit.start < (ordered[index - 1]?.end ?? 0));
  return overlap ? undefined : { body: applyEdits(body, ordered), proofs };
}

/** Of two repairs in one prompt: ids prove nothing where one of them changes others than the leading ones. */
function proofOfBoth(one: RepairProof | undefined, other: RepairProof): RepairProof {
  if (one === undefined || other.by === 'rereading') return other;
  if (one.by === 'rereading') return one;
  return other.removesLeadingTokens > one.removesLeadingTokens ? other : one;
}

/**
 * True if the new ids are the old ones without `removed` leading ids, and each of those was a repetition of the id that
 * now stands first.
 */
export function isRepairProven(
  oldIds: ArrayLike<number>,
  newIds: ArrayLike<number>,
  removed: number,
): boolean {
  if (newIds.length !== oldIds.length - removed || newIds.length === 0) return false;
  for (let index = 0; index < oldIds.length; index += 1) {
    const expected = index < removed ? newIds[0] : newIds[index - removed];
    if (oldIds[index] !== expected) return false;
  }
  return true;
}
