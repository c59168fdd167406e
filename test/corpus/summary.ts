// What the corpus holds and what came of it, as text.
import { isVariant, type CorpusCase } from './case.ts';
import type { CaseResult } from './run-case.ts';

function hasFault({ finds }: CorpusCase): boolean {
  return finds.some(({ severity }) => severity !== 'info');
}

/** The sentence that the README quotes; true as long as the tests pass. */
export function summaryOf(cases: readonly CorpusCase[]): string {
  const reports = cases.filter((one) => !isVariant(one));
  const faults = reports.filter(hasFault).length;
  const faked = cases.filter(({ requests }) =>
    requests.some(({ fakeReply }) => fakeReply !== undefined),
  ).length;
  const variants = cases.length - reports.length;
  return `${faults} cases with a fault, ${reports.length - faults} that must not be accused and ${variants} variants of both, ${cases.length - faked} of them wholly on a real engine: all found, no false alarm`;
}

/** Recall and false alarms by kind, one line each. */
export function tableOf(results: ReadonlyMap<CorpusCase, CaseResult>): string {
  const rows = new Map<string, { expected: number; found: number; falseAlarms: number }>();
  const row = (kind: string): { expected: number; found: number; falseAlarms: number } => {
    const known = rows.get(kind) ?? { expected: 0, found: 0, falseAlarms: 0 };
    rows.set(kind, known);
    return known;
  };
  for (const [{ finds }, { missed, falseAlarms }] of results) {
    for (const { kind } of finds) row(kind).expected += 1;
    for (const find of finds) if (!missed.includes(find)) row(find.kind).found += 1;
    for (const { kind } of falseAlarms) row(kind).falseAlarms += 1;
  }
  const lines = [...rows].toSorted(([a], [b]) => a.localeCompare(b));
  return [
    'kind                 expected  found  false alarms',
    ...lines.map(([kind, { expected, found, falseAlarms }]) =>
      [kind.padEnd(19), expected, found, falseAlarms]
        .map((cell, index) => (index === 0 ? cell : String(cell).padStart([0, 10, 7, 14][index] ?? 0)))
        .join(''),
    ),
  ].join('\n');
}
