/**
 * Asks the detectors of one stage. A detector whose need is not known is not asked but listed as skipped, with the
 * reason; one that throws is skipped too and takes nobody with it. Changes nothing in the exchange.
 */
import type { Detector, Need } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding, FindingKind, Severity } from '../exchange/finding.ts';
import type { UnknownReason } from '../exchange/token-read.ts';

export interface DetectorSetting {
  /** Never asked, and not counted as skipped: the operator's choice. */
  readonly off?: boolean;
  /** Replaces the severity of the kind's findings, but for those that are `info`: facts by design stay facts. */
  readonly severity?: Severity;
}

export interface DetectorRun {
  readonly detectors: readonly Detector[];
  readonly stage: Detector['stage'];
  readonly settings?: Readonly<Partial<Record<FindingKind, DetectorSetting>>>;
  /** Asks these kinds alone: the blocking ones, where their need is known before the others'. */
  readonly only?: ReadonlySet<FindingKind>;
  /** Told what a detector threw. */
  readonly onFailure?: (kind: FindingKind, error: unknown) => void;
}

export interface Detection {
  readonly findings: readonly Finding[];
  readonly skipped: Exchange['skipped'];
}

export function runDetectors(exchange: Exchange, run: DetectorRun): Detection {
  const asking = new Asking(exchange, run);
  for (const detector of run.detectors) asking.ask(detector);
  return asking.detection;
}

/** Asked between two detectors: what is returned is waited for, so that others have their turn. */
export type Pause = () => Promise<void> | undefined;

/** The same, of the exchange as it is now: what becomes known of it while others have their turn is not looked at. */
export async function runDetectorsInTurns(
  exchange: Exchange,
  run: DetectorRun,
  pause: Pause,
): Promise<Detection> {
  const asking = new Asking({ ...exchange }, run);
  for (const detector of run.detectors) {
    if (!asking.ask(detector)) continue;
    const others = pause();
    if (others !== undefined) await others;
  }
  return asking.detection;
}

class Asking {
  readonly detection: { readonly findings: Finding[]; readonly skipped: Exchange['skipped'] } = {
    findings: [],
    skipped: [],
  };
  readonly #exchange: Exchange;
  readonly #run: DetectorRun;

  constructor(exchange: Exchange, run: DetectorRun) {
    this.#exchange = exchange;
    this.#run = run;
  }

  /** False if there was nothing to ask. */
  ask(detector: Detector): boolean {
    const { kind, stage, need } = detector;
    const run = this.#run;
    const { findings, skipped } = this.detection;
    const setting = run.settings?.[kind];
    if (stage !== run.stage || setting?.off === true || run.only?.has(kind) === false) return false;
    const state = needState(need, this.#exchange);
    if (state.reason !== undefined) skipped.push({ kind, reason: state.reason });
    if (!state.ask) return false;
    try {
      const found = detector.detect(this.#exchange);
      const argument = this.#exchange.facts?.templateArgument;
      findings.push(...found.map((one) => withSeverity(withArgument(one, argument), setting?.severity)));
    } catch (error) {
      skipped.push({ kind, reason: 'inspection-failed' });
      run.onFailure?.(kind, error);
    }
    return true;
  }
}

/** Where the template is to blame: how the engine is given another one is the engine's own, and the same for all kinds. */
function withArgument(finding: Finding, argument: string | undefined): Finding {
  if (argument === undefined || finding.culprit !== 'template' || finding.severity === 'info') return finding;
  return {
    ...finding,
    advice: `${finding.advice} The engine is started with another template by ${argument}.`,
  };
}

function withSeverity(finding: Finding, severity: Severity | undefined): Finding {
  return severity === undefined || finding.severity === 'info' ? finding : { ...finding, severity };
}

/** Of several prompts some may be known: then the detector is asked about those, and the reason is kept for the rest. */
interface NeedState {
  readonly ask: boolean;
  readonly reason?: UnknownReason;
}

function needState(need: Need, exchange: Exchange): NeedState {
  if (need === 'reply' || need === 'answer') return replyState(need, exchange);
  if (exchange.facts === undefined) return { ask: false, reason: inspectionReason(exchange) };
  if (need === 'facts') return { ask: true };
  if (need === 'session') {
    // A batch of prompts has no session, and is then not skipped: there is nothing that could have been known.
    if (exchange.session !== undefined) return { ask: true };
    return exchange.prompts.length > 1 ? { ask: false } : readsState(exchange.prompts, exchange, false);
  }
  const reads = need === 'head' ? exchange.heads : exchange.prompts;
  return readsState(reads, exchange, need !== 'rendered' || exchange.prompts.some(hasText));
}

function hasText(read: Exchange['prompts'][number]): boolean {
  return read.known && read.text !== undefined;
}

function readsState(
  reads: Exchange['heads'] | Exchange['prompts'],
  exchange: Exchange,
  ask: boolean,
): NeedState {
  const missing = reads.find((read) => !read.known);
  if (reads.length === 0) return { ask: false, reason: inspectionReason(exchange) };
  if (missing !== undefined) return { ask: ask && reads.some((read) => read.known), reason: missing.reason };
  return { ask };
}

/** Why nothing is known at all: what the inspection itself says, else that it never learnt the model's facts. */
function inspectionReason({ inspection }: Exchange): UnknownReason {
  if (inspection.result === 'late') return 'budget-exhausted';
  return inspection.result === 'unknown' ? inspection.reason : 'facts-missing';
}

function replyState(need: 'reply' | 'answer', { request, reply, inspection }: Exchange): NeedState {
  if (request === undefined) {
    return { ask: false, reason: inspection.result === 'unknown' ? inspection.reason : 'unreadable-body' };
  }
  switch (reply?.unreadReason) {
    case 'compressed':
      return { ask: false, reason: 'compressed-body' };
    case 'too-large':
      return { ask: false, reason: 'body-too-large' };
    case 'unexpected-shape':
      return { ask: false, reason: 'unreadable-body' };
    case 'engine-error':
      // It generated nothing, so there is nothing to judge but the error itself.
      return { ask: need === 'answer' };
    case undefined:
      return { ask: reply !== undefined };
  }
}
