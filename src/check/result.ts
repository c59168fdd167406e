/** What a check has found out, as data: printed by report.ts, or as JSON (docs/check.md). Holds no prompt text. */
import type { FindingRecord, MaskedWindow } from '../exchange/finding-record.ts';
import { isAtLeast, type FindingKind, type Severity } from '../exchange/finding.ts';
import type { RequestKind } from '../exchange/request/request-reader.ts';
import type { UnknownReason } from '../exchange/token-read.ts';
import type { CheckInput } from './input.ts';
import type { Movement } from './movement.ts';

/** What one reading of a request's prompts gave. */
export interface Reading {
  readonly model: string;
  readonly build: string;
  /** Short hash of the chat template; '' if the model has none or nothing is known of it. */
  readonly templateHash: string;
  /** Prompt tokens per prompt index; a reason where they are not known. */
  readonly promptTokens: readonly (number | UnknownReason)[];
  /** Why not everything is known; absent if it is. Findings may be missing then. */
  readonly unknown?: UnknownReason;
  /** What the engine said to it, in its own words; absent if it said nothing. */
  readonly engineSays?: string;
  readonly findings: readonly FindingRecord[];
  /** Kinds that could not be judged, and why. */
  readonly skipped: Skipped;
  /** What the engine's answer shows; why nothing can be said of it, if there is none to judge. */
  readonly reply:
    | { readonly findings: readonly FindingRecord[]; readonly skipped: Skipped }
    | { readonly unknown: LackingReply };
}

type Skipped = readonly { readonly kind: FindingKind; readonly reason: UnknownReason }[];

/** A check generates nothing, and not every recording was made where answers are seen. */
export type LackingReply = 'not-generated' | 'not-recorded';

/** A difference with the tokens around it on either side. */
export interface ShownMovement extends Movement {
  readonly promptIndex: number;
  readonly thenWindow: MaskedWindow;
  readonly nowWindow: MaskedWindow;
}

export interface CheckResult {
  readonly source: string;
  readonly form: CheckInput['form'];
  readonly route: RequestKind;
  /** When the exchange was recorded; absent for requests and traces. */
  readonly recordedAt?: string;
  /** Judged on the frozen ids and facts. Absent for a request. */
  readonly then?: Reading;
  /** Judged on what the engine makes of the request today. Absent if no engine was asked. */
  readonly now?: Reading;
  /** One per prompt that the engine renders differently today; absent if there are not both sides to compare. */
  readonly moved?: readonly ShownMovement[];
  /** Facts of the model that are others today, by name; absent as `moved` is, and for a trace, which has none. */
  readonly factsChanged?: readonly string[];
}

export interface CheckSummary {
  readonly requests: number;
  readonly clean: number;
  readonly errors: number;
  readonly warnings: number;
  readonly notes: number;
  readonly moved: number;
  readonly unknown: number;
  /** Recorded exchanges of whose reply the recording holds nothing; they may be clean for all that is known. */
  readonly repliesNotRecorded: number;
}

/** A prompt that has moved has other ids than it was tested with; nothing says that they are worse. */
export const movedSeverity: Severity = 'warning';

/** Findings of a result, each once, with when it holds. */
export interface DatedFinding {
  readonly finding: FindingRecord;
  /** `reply`: in the engine's answer then; today there is none. */
  readonly when: 'then' | 'now' | 'both' | 'reply';
}

export function datedFindings({ then, now }: CheckResult): readonly DatedFinding[] {
  const frozen = then?.findings ?? [];
  const todays = now?.findings ?? [];
  const frozenKeys = new Set(frozen.map(keyOf));
  const todaysKeys = new Set(todays.map(keyOf));
  return [
    ...frozen.map((finding) => ({
      finding,
      when: todaysKeys.has(keyOf(finding)) ? ('both' as const) : ('then' as const),
    })),
    ...todays
      .filter((finding) => !frozenKeys.has(keyOf(finding)))
      .map((finding) => ({ finding, when: 'now' as const })),
    ...replyFindings(then).map((finding) => ({ finding, when: 'reply' as const })),
  ];
}

function replyFindings(then: Reading | undefined): readonly FindingRecord[] {
  return then !== undefined && 'findings' in then.reply ? then.reply.findings : [];
}

/** What makes two findings the same fact, whichever reading they are from. */
function keyOf({ kind, cause, culprit, promptIndex, field, tokens, message }: FindingRecord): string {
  return JSON.stringify([kind, cause, culprit, promptIndex, field, tokens, message]);
}

/** True if some prompt's ids are not known, in whichever reading. */
function isUnknown({ then, now }: CheckResult): boolean {
  return then?.unknown !== undefined || now?.unknown !== undefined;
}

export function summarise(results: readonly CheckResult[]): CheckSummary {
  const found = results.map(datedFindings);
  const counted = (severity: Severity): number =>
    found.flat().filter(({ finding }) => finding.severity === severity).length;
  const moved = results.filter((result) => (result.moved?.length ?? 0) > 0);
  const clean = results.filter(
    (result, index) => found[index]?.length === 0 && !moved.includes(result) && !isUnknown(result),
  );
  return {
    requests: results.length,
    clean: clean.length,
    errors: counted('error'),
    warnings: counted('warning'),
    notes: counted('info'),
    moved: moved.length,
    unknown: results.filter(isUnknown).length,
    repliesNotRecorded: results.filter(
      ({ form, then }) => form === 'recorded' && then !== undefined && 'unknown' in then.reply,
    ).length,
  };
}

/** True if something that was found, or has moved, is of this severity or above. */
export function isFoundAt(severity: Severity, results: readonly CheckResult[]): boolean {
  return results.some((result) => {
    const found = datedFindings(result).map(({ finding }) => finding.severity);
    const all = (result.moved?.length ?? 0) > 0 ? [...found, movedSeverity] : found;
    return all.some((one) => isAtLeast(one, severity));
  });
}

/** True if something is not known that nobody chose to leave unknown. */
export function isLacking(results: readonly CheckResult[]): boolean {
  const reasons = results.flatMap(({ then, now }) => [then?.unknown, now?.unknown]);
  return reasons.some((reason) => reason !== undefined && reason !== 'exempt');
}
