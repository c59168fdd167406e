/**
 * Results of a check for people: findings as `report/` lays them out, what has moved in the same form, and one summary
 * line. Prints nothing by itself; of a request that is clean it says nothing.
 */
import { counted } from '../exchange/counted.ts';
import { clippedTo, wrappedTo } from '../report/display-width.ts';
import { noteLines, reportFinding, type Note } from '../report/finding-report.ts';
import { lineWidth, type Paint } from '../report/layout.ts';
import { printable } from '../report/printable.ts';
import { windowIdList, windowRows } from '../report/token-window.ts';
import {
  datedFindings,
  movedSeverity,
  summarise,
  type CheckResult,
  type CheckSummary,
  type DatedFinding,
  type Reading,
  type ShownMovement,
} from './result.ts';

/** @returns lines that end with a newline each; '' for a clean result. */
export function reportResult(result: CheckResult, paint: Paint): string {
  const findings = datedFindings(result);
  const moved = result.moved ?? [];
  const lacking = [result.then, result.now].flatMap((reading) => reading ?? []).flatMap(lackOf);
  if (findings.length === 0 && moved.length === 0 && lacking.length === 0) return '';
  const isDated = result.then !== undefined;
  const groups = (['both', 'then', 'now', 'reply'] as const).flatMap((when) => {
    const reports = findings
      .filter((dated) => dated.when === when)
      .map(({ finding }) => reportFinding(finding, { paint }));
    if (reports.length === 0) return [];
    return isDated ? [`${paint('bold', `${headingOf(when, result)}:`)}\n`, ...reports] : reports;
  });
  return [
    `${paint('bold', clippedTo(printable(result.source), lineWidth))}${provenance(result)}\n`,
    ...groups,
    ...moved.map((movement) => reportMovement(movement, result, paint)),
    ...new Set(lacking),
    '\n',
  ].join('');
}

/** Why something is not known, and what the engine said: a chat that it refuses is a finding of its own. */
function lackOf({ unknown, engineSays }: Reading): string[] {
  if (unknown === undefined) return [];
  const head = `not known: ${unknown} (docs/errors.md)\n`;
  if (engineSays === undefined) return [head];
  const lines = wrappedTo(`the engine says: ${printable(engineSays)}`, lineWidth - 2);
  return [head + lines.map((line) => `  ${line}\n`).join('')];
}

function headingOf(when: DatedFinding['when'], { now }: CheckResult): string {
  if (when === 'reply') return 'wrong in the reply then';
  if (when === 'both') return 'wrong then and today';
  if (when === 'now') return 'wrong today, not then';
  return now === undefined ? 'wrong then' : 'wrong then, not today';
}

function provenance({ form, recordedAt, then }: CheckResult): string {
  if (form === 'trace') return ', a trace';
  if (then === undefined || recordedAt === undefined) return '';
  return `, recorded ${recordedAt} from build ${printable(then.build)}`;
}

/** The form of a finding: what and where, the tokens of both sides with a caret, what it means. */
function reportMovement(movement: ShownMovement, { now, factsChanged }: CheckResult, paint: Paint): string {
  const { position, promptIndex, depth, message, thenWindow, nowWindow } = movement;
  const gutter = ' '.repeat('today'.length + 1);
  const inner = lineWidth - gutter.length - 3;
  const bar = paint('dim', '|');
  const sides = [
    ['then', thenWindow],
    ['today', nowWindow],
  ] as const;
  const windows = sides.flatMap(([label, window]) =>
    windowRows(window, { start: position, end: position + 1 }, inner, paint).flatMap(
      ({ pieces, carets }, row) => [
        `${(row === 0 ? label : '').padStart(gutter.length)} ${bar} ${pieces}`,
        ...(carets === undefined ? [] : [`${gutter} ${bar} ${paint('bold', paint('yellow', carets))}`]),
      ],
    ),
  );
  // Tokens that are parts of characters look the same; their ids don't.
  const ids = sides.flatMap(([label, window]): Note[] => {
    const list = windowIdList(window);
    return list === undefined ? [] : [[`ids ${label} from ${window.start}`, list]];
  });
  const notes: Note[] = [...ids, ...(factsChanged ? [['changed', changesIn(factsChanged)] as const] : [])];
  const name = paint('bold', paint('yellow', `${movedSeverity}[moved since;${depth}]`));
  return [
    `${name} model ${printable(now?.model ?? '')}`,
    `${gutter}${paint('dim', '-->')} ${promptIndex > 0 ? `prompt ${promptIndex}, ` : ''}token ${position}`,
    `${gutter} ${bar}`,
    ...windows,
    ...wrappedTo(message, inner).map((line) => `${gutter} ${bar} ${line}`),
    ...(notes.length === 0 ? [] : [`${gutter} ${bar}`]),
    ...notes.flatMap((note) => noteLines(note, gutter, inner, paint)),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function changesIn(facts: readonly string[]): string {
  return facts.length > 0
    ? facts.join(', ')
    : 'no known fact of the model; the engine renders or tokenizes otherwise';
}

/** One line: how many requests, and what became of them. */
export function summaryLine(results: readonly CheckResult[]): string {
  const summary: CheckSummary = summarise(results);
  const { requests, clean, errors, warnings, notes, moved, unknown, repliesNotRecorded } = summary;
  const parts = [
    `${clean} clean`,
    counted(errors, 'error'),
    counted(warnings, 'warning'),
    counted(notes, 'note'),
    ...(results.some((result) => result.moved !== undefined) ? [`${moved} moved since`] : []),
    ...(unknown > 0 ? [`${unknown} not known`] : []),
    ...(repliesNotRecorded > 0
      ? [`${repliesNotRecorded} ${repliesNotRecorded === 1 ? 'reply' : 'replies'} not recorded`]
      : []),
  ];
  return `${counted(requests, 'request')}: ${parts.join(', ')}\n`;
}
