/**
 * Detect and decide: what is found in an exchange, what becomes of it, and who is told. Holds the one piece of state
 * that decisions share, the circuit breaker on rejections.
 */
import {
  blockingKinds,
  effectiveAttribution,
  effectiveRules,
  effectiveSeverity,
} from '../config/effective.ts';
import type { Config } from '../config/schema.ts';
import { detectors } from '../detectors/index.ts';
import { runDetectors, runDetectorsInTurns, type DetectorRun } from '../detectors/run.ts';
import type { Engine } from '../engines/engine.ts';
import type { Exchange, InspectionResult } from '../exchange/exchange.ts';
import { findingKinds, type Finding, type FindingKind } from '../exchange/finding.ts';
import { RejectionBreaker, type BreakerState } from '../policies/breaker.ts';
import { placedAsSent } from '../policies/attribution.ts';
import { decide, decideUnrepaired } from '../policies/decide.ts';
import { rejectFinding, rejectUnknown, type Rejection } from '../policies/rejection.ts';
import { repairAttribution, type AttributionRepair } from './attribution-repair.ts';
import { countdown, deadline } from './deadline.ts';
import { EventLoopShare } from './event-loop-share.ts';
import { repairExactly, type ProvenRepair } from './exact-repair.ts';
import type { FindingPublisher } from './finding-publisher.ts';
import { stopwatch, type Stages } from './stages.ts';
import { ToldFacts } from './told-facts.ts';

/** How far the inspection came before the decision. */
export type Reach = 'whole' | 'head' | 'nothing';

export type Judgement =
  | { readonly action: 'pass' }
  | { readonly action: 'reject'; readonly rejection: Rejection }
  | {
      readonly action: 'rewrite';
      readonly body: Buffer;
      /** When the ids and the session of the repaired request are known. */
      readonly whole: Promise<InspectionResult>;
    };

export interface JudgeParts {
  readonly engine: Engine;
  readonly publisher: FindingPublisher;
  /** How long the detectors of one stage took. */
  readonly onDetected: (seconds: number, exchange: Exchange) => void;
  readonly onBreaker: (state: BreakerState) => void;
  readonly onFailure: (error: unknown, exchange: Exchange) => void;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** How long blocking stays suspended once too much would be rejected. */
const breakerOpenMs = 60_000;

const late: InspectionResult = { result: 'late' };

export class Judge {
  readonly #parts: JudgeParts;
  readonly #judged = new WeakMap<Exchange, ReadonlySet<FindingKind>>();
  readonly #told = new ToldFacts();
  #breaker: { readonly of: Config['policies']; readonly breaker: RejectionBreaker } | undefined;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /** True if some detector's findings would hold a request back: only then does one wait beyond the budget. */
  mayBlock(config: Config): boolean {
    return blockingKinds(config).size > 0;
  }

  async before(exchange: Exchange, reach: Reach, stages: Stages, config: Config): Promise<Judgement> {
    const blocking = blockingKinds(config);
    const repair = reach === 'whole' ? await this.#repairAttribution(exchange, stages, config) : undefined;
    if (reach === 'whole') await this.#detect(exchange, config);
    else if (blocking.size > 0) await this.#detect(exchange, config, blocking);
    this.#parts.publisher.keepWindows(exchange);
    const decided = await this.#decide(exchange, reach, stages, config);
    const judgement = repair !== undefined && decided.action === 'pass' ? repair : decided;
    exchange.action = judgement.action;
    this.#parts.publisher.publish(exchange, config);
    return judgement;
  }

  /** After a late inspection: the findings that were not there when the request was forwarded. */
  async late(exchange: Exchange, config: Config): Promise<void> {
    await this.#detect(exchange, config, this.#notJudged(exchange));
    this.#parts.publisher.keepWindows(exchange);
    this.#parts.publisher.publish(exchange, config);
  }

  settled(exchange: Exchange, config: Config): void {
    const { findings, skipped } = runDetectors(exchange, {
      detectors,
      stage: 'reply',
      onFailure: (_kind, error) => {
        this.#parts.onFailure(error, exchange);
      },
    });
    this.#add(exchange, config, findings, skipped);
    this.#parts.publisher.publish(exchange, config);
  }

  /** Before all else: everything is found in what the engine gets, but for the break that the client's line is. */
  async #repairAttribution(
    exchange: Exchange,
    stages: Stages,
    config: Config,
  ): Promise<AttributionRepair | undefined> {
    const rule = effectiveAttribution(config);
    if (rule === 'keep' || !this.#areIdsVerified(exchange)) return undefined;
    const repair = await repairAttribution(exchange, stages, rule, config.inspection.blockingMs).catch(
      (error: unknown) => {
        this.#parts.onFailure(error, exchange);
        return undefined;
      },
    );
    if (repair === undefined) return undefined;
    this.#add(repair.before, config, repair.findings, []);
    this.#parts.publisher.keepWindows(repair.before);
    exchange.findings.push(...repair.before.findings);
    return repair;
  }

  #areIdsVerified({ facts, route }: Exchange): boolean {
    return facts === undefined || this.#parts.engine.idsVerified(facts, route.kind);
  }

  async #detect(exchange: Exchange, config: Config, only?: ReadonlySet<FindingKind>): Promise<void> {
    const seconds = stopwatch();
    const share = new EventLoopShare(this.#parts.now);
    const run: DetectorRun = {
      detectors,
      stage: 'request',
      ...(only === undefined ? {} : { only }),
      onFailure: (_kind, error) => {
        this.#parts.onFailure(error, exchange);
      },
    };
    const { findings, skipped } = await runDetectorsInTurns(exchange, run, () => share.pause());
    this.#parts.onDetected(seconds() - share.pausedSeconds, exchange);
    // One that lacked what it needs has not judged: it is asked again if that is known later.
    const lacking = skipped.filter(({ kind }) => findings.every((finding) => finding.kind !== kind));
    const judged = new Set([...(this.#judged.get(exchange) ?? []), ...(only ?? findingKinds)]);
    for (const { kind } of lacking) judged.delete(kind);
    this.#judged.set(exchange, judged);
    this.#add(exchange, config, findings, skipped);
  }

  #add(exchange: Exchange, config: Config, findings: readonly Finding[], skipped: Exchange['skipped']): void {
    for (const finding of findings) {
      if (!this.#told.isNew(exchange, finding)) continue;
      const severity = effectiveSeverity(config, finding.kind, finding.severity);
      exchange.findings.push({ ...placedAsSent(finding, exchange.sent?.removedItem), severity });
    }
    exchange.skipped = skipped;
  }

  #notJudged(exchange: Exchange): ReadonlySet<FindingKind> {
    const judged = this.#judged.get(exchange);
    return new Set(findingKinds.filter((kind) => judged?.has(kind) !== true));
  }

  async #decide(exchange: Exchange, reach: Reach, stages: Stages, config: Config): Promise<Judgement> {
    const breaker = this.#breakerFor(config);
    const { onUnknown, blockingMs } = config.inspection;
    let decision = decide({
      mode: config.mode,
      findings: exchange.findings,
      skipped: exchange.skipped,
      rules: effectiveRules(config),
      onUnknown,
      idsVerified: this.#areIdsVerified(exchange),
      mayReject: breaker.mayReject,
    });
    if (decision.action === 'rewrite') {
      const repaired = decision.findings;
      const leftMs = countdown(blockingMs);
      const repair = await repairExactly(exchange, repaired, stages, leftMs);
      if (repair.outcome === 'proven') {
        breaker.record(false);
        return this.#adopt(exchange, reach, repair, repaired, leftMs, config);
      }
      const lacked = repair.outcome === 'unknown' ? repair.lacked : undefined;
      if (lacked !== undefined) exchange.skipped = [...exchange.skipped, lacked];
      decision = decideUnrepaired(lacked, { onUnknown, mayReject: breaker.mayReject });
    }
    breaker.record(decision.blocks);
    if (decision.action === 'pass') return decision;
    const { dialect } = exchange.route;
    const rejection =
      'finding' in decision
        ? rejectFinding(decision.finding, dialect)
        : rejectUnknown(decision.lacked, dialect);
    return { action: 'reject', rejection };
  }

  /** The repaired request takes the place of the client's: what else is found is found in what the engine gets. */
  async #adopt(
    exchange: Exchange,
    reach: Reach,
    { body, rereading }: ProvenRepair,
    repaired: readonly Finding[],
    leftMs: () => number,
    config: Config,
  ): Promise<Judgement> {
    const whole = rereading.adopt();
    // The ids are no longer those that an earlier repair compared with.
    if (exchange.sent !== undefined) exchange.sent = { ...exchange.sent, ids: undefined };
    if (reach === 'whole') {
      // Facts of the model hold for both, and are not told again; what an earlier repair mended is gone from both.
      exchange.findings = exchange.findings.filter(
        (finding) =>
          finding.fact !== undefined || finding.savedTokens !== undefined || repaired.includes(finding),
      );
      this.#judged.set(exchange, new Set(repaired.map(({ kind }) => kind)));
      exchange.inspection = (await deadline(whole, leftMs())) ?? late;
      await this.#detect(exchange, config, this.#notJudged(exchange));
    }
    return { action: 'rewrite', body, whole };
  }

  /** A reload with other limits starts a new window. */
  #breakerFor({ policies }: Config): RejectionBreaker {
    const { maxRejectedRatio, windowRequests } = policies;
    const current = this.#breaker;
    if (current?.of.maxRejectedRatio === maxRejectedRatio && current.of.windowRequests === windowRequests) {
      return current.breaker;
    }
    const { now, onBreaker } = this.#parts;
    const breaker = new RejectionBreaker({
      maxRejectedRatio,
      windowRequests,
      openMs: breakerOpenMs,
      now,
      onChange: onBreaker,
    });
    this.#breaker = { of: policies, breaker };
    return breaker;
  }
}
