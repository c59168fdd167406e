/**
 * The proof that a repair is exact, by what its finding asks for. By ids: they are the old ones without the surplus
 * leading BOS; where those of a long prompt are not known in time, its proven boundaries carry the proof: the surplus
 * markers are tokens of their own, and what stands behind them is the same text in both bodies. By rereading: the
 * detectors find in the repaired request what they found before, but for what was to be repaired.
 */
import { detectors } from '../detectors/index.ts';
import { runDetectorsInTurns, type Detection } from '../detectors/run.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding, RepairProof } from '../exchange/finding.ts';
import type { HeadRead, TokenRead, UnknownReason } from '../exchange/token-read.ts';
import { isRepairProven } from '../policies/rewrite.ts';
import { deadline } from './deadline.ts';
import { EventLoopShare } from './event-loop-share.ts';
import type { Rereading } from './stages.ts';

/**
 * Repaired prompts consist of known segments, so this is only reached if the engine stalls; a proof by the head alone
 * need not wait for as long as the request may.
 */
const proofMs = 500;

/** `unknown`: why the engine did not say what the proof needs; the repair may be exact all the same. */
export type Proven = 'proven' | 'refuted' | { readonly unknown: UnknownReason };

export interface RepairClaim {
  readonly exchange: Exchange;
  readonly rereading: Rereading;
  /** The findings whose repairs were made. */
  readonly repaired: readonly Finding[];
  /** What must be shown of each prompt; one that is not listed must have stayed as it was. */
  readonly proofs: ReadonlyMap<number, RepairProof>;
  readonly withinMs: number;
}

export async function proveRepair({
  exchange,
  rereading,
  repaired,
  proofs,
  withinMs,
}: RepairClaim): Promise<Proven> {
  const { heads, prompts } = exchange;
  if (rereading.heads.length !== heads.length) return 'refuted';
  for (const [index, old] of heads.entries()) {
    const proven = proveHead(old, rereading.heads[index], proofs.get(index));
    if (proven !== 'proven') return proven;
  }
  // What was found in all of a prompt is only gone if all of it is known again.
  const byRereading = [...proofs.values()].some(({ by }) => by === 'rereading');
  const enough = (reason: UnknownReason): Proven => (byRereading ? { unknown: reason } : 'proven');
  const unread = prompts.find((prompt) => !prompt.known);
  if (unread !== undefined || prompts.length === 0) return enough(unread?.reason ?? 'budget-exhausted');
  const reread = await deadline(rereading.prompts(), Math.min(proofMs, withinMs));
  if (reread === undefined) return enough('budget-exhausted');
  const idsProven = prompts.every((old, index) => isPromptProven(old, reread[index], proofs.get(index)));
  if (!idsProven) return 'refuted';
  if (!byRereading) return 'proven';
  const unreadNow = reread.find((prompt) => !prompt.known);
  if (unreadNow !== undefined) return { unknown: unreadNow.reason };
  return (await isFaultGone(exchange, rereading, reread, repaired)) ? 'proven' : 'refuted';
}

/** Undefined where ids prove nothing. */
function removedBy(proof: RepairProof | undefined): number | undefined {
  if (proof === undefined) return 0;
  return proof.by === 'ids' ? proof.removesLeadingTokens : undefined;
}

function proveHead(old: HeadRead, now: HeadRead | undefined, proof: RepairProof | undefined): Proven {
  if (now === undefined) return 'refuted';
  const removed = removedBy(proof);
  if (removed === undefined) return 'proven';
  // A prompt that nothing is cut from is the same bytes; its head may be unknown (media).
  if (removed === 0 && !(old.known && now.known)) return 'proven';
  if (!old.known) return { unknown: old.reason };
  if (!now.known) return { unknown: now.reason };
  const proven = old.ids.length === 0 ? now.ids.length === 0 : isRepairProven(old.ids, now.ids, removed);
  return proven ? 'proven' : 'refuted';
}

function isPromptProven(old: TokenRead, now: TokenRead | undefined, proof: RepairProof | undefined): boolean {
  const removed = removedBy(proof);
  if (removed === undefined || now?.known !== true || !old.known) return true;
  return isRepairProven(old.ids, now.ids, removed);
}

/**
 * True if the detectors, asked about the repaired request, find no more than before, and nothing of what was repaired.
 * How it compares with earlier turns is not a fault of its own, so it is judged without its session.
 */
async function isFaultGone(
  exchange: Exchange,
  { request, heads }: Rereading,
  prompts: readonly TokenRead[],
  repaired: readonly Finding[],
): Promise<boolean> {
  const before: Exchange = { ...exchange };
  delete before.session;
  const then = await judge(before);
  const now = await judge({ ...before, request, heads, prompts });
  const allowed = then.findings.map(nameOf);
  for (const finding of repaired) takeOut(allowed, nameOf(finding));
  const askedAsBefore = now.skipped.every(({ kind }) => then.skipped.some((one) => one.kind === kind));
  return askedAsBefore && now.findings.every((finding) => takeOut(allowed, nameOf(finding)));
}

function judge(exchange: Exchange): Promise<Detection> {
  const share = new EventLoopShare(() => performance.now());
  return runDetectorsInTurns(exchange, { detectors, stage: 'request' }, () => share.pause());
}

function nameOf({ kind, cause, promptIndex, field }: Finding): string {
  return JSON.stringify([kind, cause, promptIndex, field]);
}

/** @returns false if it is not there */
function takeOut(names: string[], name: string): boolean {
  const place = names.indexOf(name);
  if (place >= 0) names.splice(place, 1);
  return place >= 0;
}
