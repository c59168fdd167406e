/**
 * Makes the repairs of findings in the client's bytes and has them proven before anything is sent, within one deadline.
 * A repair that is not proven is none: says whether the proof failed or what it needs was not known in time.
 */
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import type { UnknownReason } from '../exchange/token-read.ts';
import type { Lacked } from '../policies/decide.ts';
import { rewriteBody } from '../policies/rewrite.ts';
import { deadline } from './deadline.ts';
import { proveRepair } from './repair-proof.ts';
import type { Rereading, Stages } from './stages.ts';

export interface ProvenRepair {
  readonly outcome: 'proven';
  readonly body: Buffer;
  readonly rereading: Rereading;
}

export type ExactRepair =
  ProvenRepair | { readonly outcome: 'refuted' } | { readonly outcome: 'unknown'; readonly lacked: Lacked };

const refuted: ExactRepair = { outcome: 'refuted' };

/**
 * @param repaired the findings to repair
 * @param leftMs tells how much longer the request may wait
 */
export async function repairExactly(
  exchange: Exchange,
  repaired: readonly Finding[],
  stages: Stages,
  leftMs: () => number,
): Promise<ExactRepair> {
  const { request } = exchange;
  const [first] = repaired;
  const rewrite = request === undefined ? undefined : rewriteBody(request.body, repaired);
  if (first === undefined || rewrite === undefined) return refuted;
  const unknown = (reason: UnknownReason): ExactRepair => ({
    outcome: 'unknown',
    lacked: { kind: first.kind, reason, unprovenRepair: true },
  });
  const { body, proofs } = rewrite;
  const read = stages.reread(body).then((rereading) => rereading ?? 'unreadable');
  const rereading = await deadline(read, leftMs());
  if (rereading === undefined) return unknown('budget-exhausted');
  if (rereading === 'unreadable') return refuted;
  const proof = await proveRepair({ exchange, rereading, repaired, proofs, withinMs: leftMs() });
  if (proof === 'proven') return { outcome: 'proven', body, rereading };
  return proof === 'refuted' ? refuted : unknown(proof.unknown);
}
