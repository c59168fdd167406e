/**
 * The newest findings, for the findings API and the inspector page. Bounded; lives in memory only and dies with the
 * process. Holds finding records, which carry no prompt text.
 */
import { severities, type FindingKind, type Severity } from '../exchange/finding.ts';
import type { FindingRecord } from '../exchange/finding-record.ts';

export interface FindingsFilter {
  readonly kind?: FindingKind;
  readonly model?: string;
  readonly severity?: Severity;
  /** The most records to return. */
  readonly limit: number;
}

interface Kept {
  readonly sequence: number;
  readonly record: FindingRecord;
}

/**
 * When full, the oldest record of the severity that has the most is dropped: a flood of one severity can't wash away
 * the few records of another.
 */
export class FindingsRing {
  readonly #capacity: number;
  /** Per severity, oldest first. */
  readonly #kept: Readonly<Record<Severity, Kept[]>> = { info: [], warning: [], error: [] };
  #sequence = 0;

  /** @param capacity the most records kept over all severities (`limits.findingsKept`), at least 1. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Findings seen since the start, kept or not. */
  get seen(): number {
    return this.#sequence;
  }

  add(record: FindingRecord): void {
    this.#sequence += 1;
    this.#kept[record.severity].push({ sequence: this.#sequence, record });
    const size = severities.reduce((sum, severity) => sum + this.#kept[severity].length, 0);
    if (size > this.#capacity) this.#fullest().shift();
  }

  /** Newest first. */
  list({ kind, model, severity, limit }: FindingsFilter): readonly FindingRecord[] {
    const wanted = severity === undefined ? severities : [severity];
    return wanted
      .flatMap((each) => this.#kept[each])
      .filter(({ record }) => kind === undefined || record.kind === kind)
      .filter(({ record }) => model === undefined || record.model === model)
      .toSorted((a, b) => b.sequence - a.sequence)
      .slice(0, limit)
      .map(({ record }) => record);
  }

  /** Of equally full ones the one with the oldest record, so that the newest record is never dropped. */
  #fullest(): Kept[] {
    const order = (a: Kept[], b: Kept[]): number =>
      b.length - a.length || (a[0]?.sequence ?? 0) - (b[0]?.sequence ?? 0);
    return severities.map((severity) => this.#kept[severity]).toSorted(order)[0] ?? [];
  }
}
