/**
 * What becomes of a request, from its findings and the operator's rules. Pure: the same input, the same decision. Rejects
 * only what the client did, unless a rule says otherwise; never rejects on anything that is not known to be true.
 */
import type { Action, Exchange } from '../exchange/exchange.ts';
import type { Finding, FindingKind, Severity } from '../exchange/finding.ts';
import type { UnknownReason } from '../exchange/token-read.ts';

export interface PolicyRule {
  /** What strict mode does with the kind's findings. */
  readonly action: Action;
  /** `client` (the default): reject only what the client did. */
  readonly rejectWhen?: 'client' | 'always';
}

export interface DecisionInput {
  readonly mode: 'observe' | 'strict';
  readonly findings: readonly Finding[];
  /** Detectors that lacked what they need. */
  readonly skipped: Exchange['skipped'];
  /** A kind without a rule passes. */
  readonly rules: Readonly<Partial<Record<FindingKind, PolicyRule>>>;
  readonly onUnknown: 'forward' | 'reject';
  /** False once the engine's own counts have contradicted the ids: then nothing is blocked on them. */
  readonly idsVerified: boolean;
  /** False while the circuit breaker is open. */
  readonly mayReject: boolean;
}

/** Why a request passes though strict mode has rules; `clean` covers all that no rule is about. */
export type PassReason =
  'observing' | 'clean' | 'not-the-client' | 'no-repair' | 'ids-unverified' | 'breaker-open';

export interface Lacked {
  readonly kind: FindingKind;
  readonly reason: UnknownReason;
  /** True if the finding is known and only the proof of its repair is not. */
  readonly unprovenRepair?: boolean;
}

/**
 * `blocks` is true if the request is rejected or only the open breaker keeps it from that: what the breaker counts.
 * A `rewrite` is a plan: it holds only if the repaired request's ids are proven, else see `decideUnrepaired`.
 */
export type Decision =
  | { readonly action: 'pass'; readonly because: PassReason; readonly blocks: boolean }
  | { readonly action: 'rewrite'; readonly findings: readonly Finding[]; readonly blocks: false }
  | { readonly action: 'reject'; readonly finding: Finding; readonly blocks: true }
  | { readonly action: 'reject'; readonly lacked: Lacked; readonly blocks: true };

/**
 * A repair is planned and not made. Refuted, the finding has no repair, and the request passes as it came. Where the
 * proof was not known in time, the rule for the unknown holds: the finding is known, but the operator has asked for it to
 * be repaired and not for the request to be refused for it.
 */
export function decideUnrepaired(
  lacked: Lacked | undefined,
  { onUnknown, mayReject }: Pick<DecisionInput, 'onUnknown' | 'mayReject'>,
): Exclude<Decision, { action: 'rewrite' }> {
  if (lacked === undefined || onUnknown !== 'reject')
    return { action: 'pass', because: 'no-repair', blocks: false };
  if (!mayReject) return { action: 'pass', because: 'breaker-open', blocks: true };
  return { action: 'reject', lacked, blocks: true };
}

/** Reasons that are the operator's own choice or leave nothing to block. */
const notHeldAgainst: ReadonlySet<UnknownReason> = new Set(['exempt', 'route-not-inspected']);

const weight: Record<Severity, number> = { info: 0, warning: 1, error: 2 };

export function decide(input: DecisionInput): Decision {
  const { mode, findings, rules, idsVerified, mayReject } = input;
  if (mode === 'observe') return { action: 'pass', because: 'observing', blocks: false };
  const ruled = findings.filter(({ kind }) => (rules[kind]?.action ?? 'pass') !== 'pass');
  if (ruled.length > 0 && !idsVerified) return { action: 'pass', because: 'ids-unverified', blocks: false };

  const toReject = ruled.filter(({ kind }) => rules[kind]?.action === 'reject');
  const rejected = worst(toReject.filter((finding) => mayBlame(finding, rules[finding.kind])));
  const lacked = lackedBy(input);
  if (rejected !== undefined || lacked !== undefined) {
    if (!mayReject) return { action: 'pass', because: 'breaker-open', blocks: true };
    if (rejected !== undefined) return { action: 'reject', finding: rejected, blocks: true };
    if (lacked !== undefined) return { action: 'reject', lacked, blocks: true };
  }

  const toRewrite = ruled.filter(({ kind }) => rules[kind]?.action === 'rewrite');
  const repairable = toRewrite.filter(({ repair }) => repair !== undefined);
  if (repairable.length > 0) return { action: 'rewrite', findings: repairable, blocks: false };
  return { action: 'pass', because: passReason(toReject, toRewrite), blocks: false };
}

function mayBlame({ culprit }: Finding, rule: PolicyRule | undefined): boolean {
  return culprit === 'client' || rule?.rejectWhen === 'always';
}

/** The most severe finding; of equals the first. */
function worst(findings: readonly Finding[]): Finding | undefined {
  return findings.toSorted((a, b) => weight[b.severity] - weight[a.severity])[0];
}

function lackedBy({ skipped, rules, onUnknown }: DecisionInput): Lacked | undefined {
  if (onUnknown !== 'reject') return undefined;
  return skipped.find(
    ({ kind, reason }) => (rules[kind]?.action ?? 'pass') !== 'pass' && !notHeldAgainst.has(reason),
  );
}

function passReason(toReject: readonly Finding[], toRewrite: readonly Finding[]): PassReason {
  if (toReject.length > 0) return 'not-the-client';
  return toRewrite.length > 0 ? 'no-repair' : 'clean';
}
