/**
 * Freezes or cuts a client's attribution line before a request is judged, and says what that saves. Only with proof, by
 * the ids of the request with and without it; where one of them is not known in time the request stays as it came.
 */
import { detectors } from '../detectors/index.ts';
import { runDetectors } from '../detectors/run.ts';
import { applyEdits } from '../exchange/edits.ts';
import type { Exchange, InspectionResult } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import type { SentIds, SessionMatch } from '../exchange/session-match.ts';
import type { KnownTokens } from '../exchange/token-read.ts';
import { planAttribution, type AttributionPlan, type AttributionRule } from '../policies/attribution.ts';
import { commonPrefixLength, reusableTokens } from '../tokens/common-prefix.ts';
import { proveAttribution, sentIds } from './attribution-proof.ts';
import { deadline } from './deadline.ts';
import type { Rereading, Stages } from './stages.ts';

export interface AttributionRepair {
  readonly action: 'rewrite';
  readonly body: Buffer;
  /** Settled: the ids and the session of the repaired request. */
  readonly whole: Promise<InspectionResult>;
  /** The exchange as it was: what the client's own request says of its conversation. */
  readonly before: Exchange;
  /** The break that the client's own line would have been; [] if the line is the one of the turn before. */
  readonly findings: readonly Finding[];
}

/**
 * Makes the repaired request the exchange's own.
 * @param withinMs how long the repaired request may take to be rendered and tokenized
 * @returns undefined if there is none, or none is proven in time
 */
export async function repairAttribution(
  exchange: Exchange,
  stages: Stages,
  rule: AttributionRule,
  withinMs: number,
): Promise<AttributionRepair | undefined> {
  const { request, session, prompts } = exchange;
  const [old] = prompts;
  if (request?.kind !== 'chat' || session === undefined || old?.known !== true) return undefined;
  const plan = planAttribution(request, rule, session.ancestor);
  if (plan === undefined) return undefined;
  const body = applyEdits(request.body, [plan.edit]);
  const read = await deadline(readAgain(stages, body), withinMs);
  if (read === undefined) return undefined;
  const { rereading, now } = read;
  const sent = proveAttribution(plan, old.ids, now.ids, session.ancestor?.ids);
  if (sent === undefined) return undefined;
  const before: Exchange = { ...exchange, session: sessionAsSent(session, old.ids) };
  const whole = rereading.adopt();
  exchange.inspection = await whole;
  exchange.sent = { ids: sent, ...(plan.removedItem && { removedItem: plan.removedItem }) };
  return { action: 'rewrite', body, whole, before, findings: findingsAsSent(before, exchange, plan, sent) };
}

async function readAgain(
  stages: Stages,
  body: Buffer,
): Promise<{ readonly rereading: Rereading; readonly now: KnownTokens } | undefined> {
  const rereading = await stages.reread(body);
  const [now] = rereading === undefined ? [] : await rereading.prompts();
  return rereading !== undefined && now?.known === true ? { rereading, now } : undefined;
}

/** The session as it would be if no turn of it had been repaired. */
function sessionAsSent(session: SessionMatch, ids: Uint32Array): SessionMatch {
  const { ancestor } = session;
  if (ancestor?.sent === undefined) return session;
  const asSent = { ...ancestor, ids: sentIds(ancestor.ids, ancestor.sent) };
  return {
    ...session,
    ancestor: asSent,
    commonTokens: commonPrefixLength(asSent.ids, ids, asSent.generated),
  };
}

function findingsAsSent(
  before: Exchange,
  exchange: Exchange,
  { way }: AttributionPlan,
  { head }: SentIds,
): readonly Finding[] {
  const savedTokens = Math.max(0, computedTokens(before) - computedTokens(exchange));
  const done =
    way === 'freeze' ? 'the line that the conversation began with took its place' : 'the line was cut';
  return runDetectors(before, { detectors, stage: 'request', only: new Set(['prefix-break']) })
    .findings.filter(({ cause, tokens }) => {
      // A break behind the line is not the line's doing, and is found again in what the engine gets.
      return cause === 'attribution-line' && tokens !== undefined && tokens.start < head.length;
    })
    .map((finding) => ({
      ...finding,
      savedTokens,
      message: `${finding.message} Before forwarding ${done}, which saves ${savedTokens} tokens.`,
    }));
}

/** Prompt tokens that the engine has to compute, as far as its cache is what the session remembers. */
function computedTokens({ prompts: [read], session, facts }: Exchange): number {
  if (read?.known !== true) return 0;
  const common = session?.commonTokens ?? 0;
  return read.ids.length - reusableTokens(common, read.ids.length, facts?.cacheBlockTokens);
}
