/**
 * A finding for people, laid out as a compiler prints an error: what and where, the tokens with carets below, who did
 * it, what to change. Pure. Text from clients and model files is escaped; nothing is shown that the record masks.
 */
import { lineWidth, type Paint, type Style } from './layout.ts';
import { printable } from './printable.ts';
import type { FindingRecord, MaskedWindow } from '../exchange/finding-record.ts';
import type { Severity } from '../exchange/finding.ts';
import { clippedTo, wrappedTo } from './display-width.ts';
import { windowIdList, windowRows } from './token-window.ts';

export interface ReportOptions {
  /** Columns of the longest line. @defaultValue `lineWidth` */
  readonly columns?: number;
  readonly paint: Paint;
  /** The engine's own prefill rate, to say what lost tokens cost; absent where no reply has told it. */
  readonly prefillTokensPerSecond?: number;
}

const styles: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', info: 'cyan' };

/** @returns lines that end with a newline each. */
export function reportFinding(record: FindingRecord, options: ReportOptions): string {
  const { columns = lineWidth, paint } = options;
  const { window, ancestorWindow, referenceWindow } = record;
  const numberWidth = String((window?.start ?? 0) + (window?.pieces.length ?? 0)).length;
  const gutter = ' '.repeat(numberWidth + 1);
  const inner = columns - numberWidth - 4;
  const bar = paint('dim', '|');
  const style = styles[record.severity];

  const linesOf = (shown: MaskedWindow): string[] =>
    windowRows(shown, record.tokens, inner, paint).flatMap(({ position, pieces, carets }) => [
      ` ${paint('dim', String(position).padStart(numberWidth))} ${bar} ${pieces}`,
      ...(carets === undefined ? [] : [`${gutter} ${bar} ${emphasised(paint, style, carets)}`]),
    ]);
  const compared = (heading: string, shown: MaskedWindow | undefined): string[] =>
    shown === undefined ? [] : [`${gutter} ${bar} ${paint('dim', heading)}`, ...linesOf(shown)];
  return [
    ...headerLines(record, columns, paint),
    `${gutter}${paint('dim', '-->')} ${clippedTo(printable(placeOf(record)), inner - 1)}`,
    `${gutter} ${bar}`,
    ...(window === undefined ? [] : linesOf(window)),
    ...compared('the earlier turn there:', ancestorWindow),
    ...compared('the reference there:', referenceWindow),
    ...wrappedTo(printable(record.message), inner).map((line) => `${gutter} ${bar} ${line}`),
    `${gutter} ${bar}`,
    ...notesOf(record, options).flatMap((note) => noteLines(note, gutter, inner, paint)),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

export type Note = readonly [label: string, text: string];

/** A note below the tokens. @param inner columns right of the gutter */
export function noteLines([label, text]: Note, gutter: string, inner: number, paint: Paint): string[] {
  const [first = '', ...rest] = wrappedTo(`${label}: ${printable(text)}`, inner);
  const labelled = paint('bold', `${label}:`) + first.slice(label.length + 1);
  return [`${gutter} ${paint('dim', '=')} ${labelled}`, ...rest.map((line) => `${gutter}   ${line}`)];
}

/** The name in brackets is the one of the response header `tokenweir-findings`. */
function headerLines(
  { kind, cause, severity, model, route }: FindingRecord,
  columns: number,
  paint: Paint,
): string[] {
  const name = `${severity}[${kind}${cause === undefined ? '' : `;${cause}`}]`;
  const [first = '', ...rest] = wrappedTo(`${name} model ${printable(model)}, route ${route}`, columns);
  if (!first.startsWith(name)) return [first, ...rest];
  return [emphasised(paint, styles[severity], name) + first.slice(name.length), ...rest];
}

function emphasised(paint: Paint, style: Style, text: string): string {
  return paint('bold', paint(style, text));
}

/** Field and tokens, as far as the finding has them; of a finding about the whole exchange its request's id. */
function placeOf({ field, tokens, promptIndex, requestId }: FindingRecord): string {
  const places: string[] = [];
  if (field !== undefined) places.push(field);
  if (promptIndex > 0) places.push(`prompt or choice ${promptIndex}`);
  if (tokens !== undefined) {
    const last = tokens.end - 1;
    places.push(last > tokens.start ? `tokens ${tokens.start}–${last}` : `token ${tokens.start}`);
  }
  return places.length === 0 ? `request ${requestId}` : places.join(', ');
}

function notesOf(record: FindingRecord, { prefillTokensPerSecond: rate }: ReportOptions): Note[] {
  const { culprit, window, ancestorWindow, referenceWindow, lostTokens, savedTokens, action, advice } =
    record;
  const notes: Note[] = [['culprit', culprit]];
  if (lostTokens !== undefined) {
    const cost =
      rate === undefined || rate <= 0
        ? ''
        : `, ${duration(lostTokens / rate)} of prefill at ${count(rate)} tokens/s`;
    notes.push(['lost', countOfTokens(lostTokens) + cost]);
  }
  if (savedTokens !== undefined) notes.push(['saved', countOfTokens(savedTokens)]);
  if (action !== 'pass') notes.push(['action', action]);
  noteIds('ids', window);
  noteIds('ids there', ancestorWindow ?? referenceWindow);
  notes.push(['help', advice]);
  return notes;

  function noteIds(label: string, shown: MaskedWindow | undefined): void {
    if (shown === undefined) return;
    const ids = windowIdList(shown);
    if (ids !== undefined) notes.push([`${label} from ${shown.start}`, ids]);
  }
}

function countOfTokens(tokens: number): string {
  return `${count(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`;
}

function duration(seconds: number): string {
  return seconds < 1 ? `${Math.ceil(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}
