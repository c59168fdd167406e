/**
 * The log lines about findings: which fields they have, and nothing else. docs/logs.md describes every field; a test
 * compares the two. No prompt text, no token ids, no window.
 */
import type { FindingRecord } from '../exchange/finding-record.ts';

/** A finding that is new: none of the same kind, cause, client and model has been logged within the fold window. */
export interface FindingLine extends Omit<
  FindingRecord,
  'time' | 'message' | 'window' | 'ancestorWindow' | 'referenceWindow'
> {
  readonly event: 'finding';
}

/** How often a logged finding came again while its fold window was open. */
export interface RepeatLine {
  readonly event: 'finding-repeated';
  readonly kind: FindingRecord['kind'];
  readonly cause?: string;
  readonly severity: FindingRecord['severity'];
  readonly client: string;
  readonly model: string;
  /** Repeats after the line that was logged; at least 1. */
  readonly count: number;
  /** Tokens lost by the repeats together; absent unless they lost any. */
  readonly lostTokens?: number;
  /** Tokens that repairs of the repeats saved together; absent unless they saved any. */
  readonly savedTokens?: number;
  /** ISO 8601: when the window opened, and when the last repeat came. */
  readonly since: string;
  readonly until: string;
  /** The newest repeat. */
  readonly requestId: string;
}

/** Picks field by field, so that a field added to the record is not logged before somebody has decided it. */
export function findingLine(record: FindingRecord): FindingLine {
  const { requestId, traceId, model, route, client, session, kind, cause, severity } = record;
  const { culprit, promptIndex, tokens, lostTokens, savedTokens, field, advice, action } = record;
  return {
    event: 'finding',
    requestId,
    ...(traceId !== undefined && { traceId }),
    model,
    route,
    client,
    ...(session !== undefined && { session }),
    kind,
    ...(cause !== undefined && { cause }),
    severity,
    culprit,
    promptIndex,
    ...(tokens && { tokens }),
    ...(lostTokens !== undefined && { lostTokens }),
    ...(savedTokens !== undefined && { savedTokens }),
    ...(field !== undefined && { field }),
    advice,
    action,
  };
}

/** What a fold window has gathered since its first finding was logged. */
export interface Repeats {
  readonly since: string;
  readonly newest: FindingRecord;
  readonly count: number;
  readonly lostTokens: number;
  readonly savedTokens: number;
}

export function repeatLine({ since, newest, count, lostTokens, savedTokens }: Repeats): RepeatLine {
  const { kind, cause, severity, client, model, requestId, time } = newest;
  return {
    event: 'finding-repeated',
    kind,
    ...(cause !== undefined && { cause }),
    severity,
    client,
    model,
    count,
    ...(lostTokens > 0 && { lostTokens }),
    ...(savedTokens > 0 && { savedTokens }),
    since,
    until: time,
    requestId,
  };
}
