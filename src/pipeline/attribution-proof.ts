/**
 * The proof that a repaired attribution line changed nothing else: the old and the new ids share all that stands before
 * the line and all that stands behind it. Compares ids only; renders nothing and asks nobody.
 */
import type { SentIds } from '../exchange/session-match.ts';
import type { AttributionPlan } from '../policies/attribution.ts';
import { commonPrefixLength, commonSuffixLength } from '../tokens/common-prefix.ts';

/**
 * Frozen: the line's ids take the place of the line's ids, and all up to its end is the ancestor's. Cut: the new ids
 * are the old ones without a run that is no longer than the line.
 * @param old the ids of the request as the client sent it
 * @param ancestor the ids that the engine was fed by the turn before; absent if there was none
 * @returns what of the old ids the new ones replace; undefined if nothing is proven, or the ids are the same
 */
export function proveAttribution(
  { way, mostTokens }: Pick<AttributionPlan, 'way' | 'mostTokens'>,
  old: Uint32Array,
  now: Uint32Array,
  ancestor: Uint32Array | undefined,
): SentIds | undefined {
  const before = commonPrefixLength(old, now);
  const behind = commonSuffixLength(old, now, Math.min(old.length, now.length) - before);
  const removed = old.length - behind - before;
  const put = now.length - behind - before;
  if (removed > mostTokens || put > mostTokens || removed + put === 0) return undefined;
  const lineEnd = before + put;
  const exact =
    way === 'cut'
      ? put === 0
      : ancestor !== undefined && commonPrefixLength(ancestor, now) >= Math.max(lineEnd, before + 1);
  return exact ? { head: old.slice(0, before + removed), from: lineEnd } : undefined;
}

/** The ids as the client sent them. */
export function sentIds(ids: Uint32Array, sent: SentIds | undefined): Uint32Array {
  if (sent === undefined) return ids;
  const joined = new Uint32Array(sent.head.length + ids.length - sent.from);
  joined.set(sent.head);
  joined.set(ids.subarray(sent.from), sent.head.length);
  return joined;
}
