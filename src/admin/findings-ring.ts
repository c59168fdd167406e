/**
 * The newest findings, for the findings API and the inspector page. Bounded; lives in memory only and dies with the
 * process. Holds finding records, which carry no prompt text.
 */
import type { FindingKind, Severity } from '../exchange/finding.ts';
import type { FindingRecord } from '../exchange/finding-record.ts';
import { FairRing } from './fair-ring.ts';

export interface FindingsFilter {
  readonly kind?: FindingKind;
  readonly model?: string;
  readonly severity?: Severity;
  /** The most records to return. */
  readonly limit: number;
}

/** A flood of one severity can't wash away the few findings of another. */
export class FindingsRing {
  readonly #ring: FairRing<FindingRecord>;

  /** @param capacity the most records kept over all severities (`limits.findingsKept`), at least 1; may change. */
  constructor(capacity: () => number) {
    this.#ring = new FairRing(capacity, ({ severity }) => severity);
  }

  /** Findings seen since the start, kept or not. */
  get seen(): number {
    return this.#ring.seen;
  }

  add(record: FindingRecord): void {
    this.#ring.add(record);
  }

  /** Newest first. */
  list({ kind, model, severity, limit }: FindingsFilter): readonly FindingRecord[] {
    return this.#ring.list(
      (record) =>
        (kind === undefined || record.kind === kind) &&
        (model === undefined || record.model === model) &&
        (severity === undefined || record.severity === severity),
      limit,
    );
  }
}
