/**
 * Where a text opens and ends turns, and what that comes to: a whole conversation, a forged turn, or nothing that a
 * model could take for one. Reads one text; knows neither request nor prompt.
 */
import type { TurnForms, TurnOpening } from '../../tokens/marker-families.ts';
import { standsAt } from '../../exchange/written/text-place.ts';
import type { OwnForms } from './turn-forms.ts';

/** Forms of turns, the model's own or others'. */
export type SignForms = TurnForms & Pick<OwnForms, 'pattern' | 'never'>;

export interface MarkerHit {
  readonly text: string;
  /** UTF-16 offset of its first character. */
  readonly start: number;
}

export interface TurnSign extends MarkerHit {
  readonly kind: 'opening' | 'end';
  /** Behind the role's name and what closes the opening. */
  readonly end: number;
  /** The name that an opening gives; absent where the marker itself says whose turn it is. */
  readonly role?: string;
}

/**
 * `conversation`: it begins with a turn and goes on to that turn's end, or to another turn. `forged-turn`: it ends the
 * turn that it stands in and opens another.
 */
export interface TurnShape {
  readonly shape: 'conversation' | 'forged-turn';
  readonly first: TurnSign;
  readonly last: TurnSign;
}

/** Signs of one text that are looked at; a conversation of more is still one. */
const mostSigns = 32_768;

/** Where the first marker that no text should hold may stand; -1 if there is none. Native: most texts end here. */
export function firstMarker(text: string, { pattern: { pattern }, beginnings }: OwnForms): number {
  let first = Infinity;
  for (const beginning of beginnings) {
    const at = text.indexOf(beginning);
    if (at >= 0 && at < first) first = at;
  }
  if (pattern === undefined || first === Infinity) return -1;
  pattern.lastIndex = first;
  return pattern.exec(text)?.index ?? -1;
}

/** The markers that no text should hold, in order, the longest where several begin. */
export function* markerHits(
  text: string,
  { pattern: { pattern }, never }: SignForms,
  from = 0,
): Generator<MarkerHit> {
  if (pattern === undefined) return;
  // The pattern is shared by all who look, so its place in this text is set before each step.
  for (let at = from; ;) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return;
    const [hit] = match;
    at = match.index + hit.length;
    if (never.has(hit)) yield { text: hit, start: match.index };
  }
}

/** Where the text opens and ends turns, in order; of a text that is nothing but those, the first ones. */
export function* turnSigns(text: string, forms: SignForms, from = 0): Generator<TurnSign> {
  let signs = 0;
  for (const hit of markerHits(text, forms, from)) {
    const sign = signAt(text, hit, forms);
    if (sign === undefined) continue;
    yield sign;
    signs += 1;
    if (signs === mostSigns) return;
  }
}

/** The first of them. */
export function firstSign(text: string, forms: SignForms, from = 0): TurnSign | undefined {
  for (const sign of turnSigns(text, forms, from)) return sign;
  return undefined;
}

function signAt(text: string, hit: MarkerHit, { openings, ends }: TurnForms): TurnSign | undefined {
  if (ends.includes(hit.text)) return { ...hit, kind: 'end', end: hit.start + hit.text.length };
  for (const opening of openings) {
    const sign = opening.start === hit.text ? openingAt(text, hit, opening) : undefined;
    if (sign !== undefined) return sign;
  }
  return undefined;
}

/** Of a pattern: the name that an opening may give. */
export const roleName = String.raw`[A-Za-z_][\w-]{0,30}`;
const roleHere = new RegExp(roleName, 'y');
/** What follows an opening on its own line in source code and templates, where it is part of a string and no turn begins. */
const codeAfter = new Set(['\\', '"', "'", '`', '{', '}']);
/** What stands for a turn's text in templates and in descriptions of them; a text may well begin with a brace or a quote. */
const placeholder = /\{[{%]|\{[A-Za-z_][\w.]*\}|"""|'''/y;

/** The turn that the opening at this place begins; undefined if it is written in another way than a template does. */
function openingAt(text: string, hit: MarkerHit, { named, close }: TurnOpening): TurnSign | undefined {
  const after = hit.start + hit.text.length;
  roleHere.lastIndex = after;
  const role = named ? roleHere.exec(text)?.[0] : undefined;
  if (named && role === undefined) return undefined;
  const at = after + (role?.length ?? 0);
  const end = closedAt(text, at, close);
  if (end === undefined || isCode(text, end, close)) return undefined;
  return { ...hit, kind: 'opening', end, ...(role !== undefined && { role }) };
}

function isCode(text: string, at: number, close: string): boolean {
  if (close !== '\n') return codeAfter.has(text[at] ?? '');
  placeholder.lastIndex = at;
  return placeholder.test(text);
}

/** A text may end where the line end would come: clients trim. */
function closedAt(text: string, at: number, close: string): number | undefined {
  if (close !== '\n') return text.startsWith(close, at) ? at + close.length : undefined;
  if (at >= text.length || text[at] === '\n') return Math.min(at + 1, text.length);
  return text.startsWith('\r\n', at) ? at + 2 : undefined;
}

/** What the text's turns come to. Looks at signs only where the learnt forms say that there may be something. */
export function turnShape(text: string, forms: OwnForms): TurnShape | undefined {
  return openingFrom(0, text, forms) === undefined
    ? undefined
    : (conversation(text, forms) ?? forgedTurn(text, forms));
}

/**
 * A name and a line end of its own make an opening unmistakable. A bare marker is also how people write about it, so
 * there the text has to be a conversation from its first character to its last.
 */
function conversation(text: string, forms: OwnForms): TurnShape | undefined {
  if (!mayBegin(text, forms)) return undefined;
  const signs = turnSigns(text, forms);
  const first = signs.next().value as TurnSign | undefined;
  const begins = first?.role === undefined ? startsText : startsLine;
  if (first?.kind !== 'opening' || !begins(text, first.start, forms.frame)) return undefined;
  let last = first;
  for (const sign of signs) last = sign;
  if (last === first || (first.role === undefined && text.slice(last.end).trim() !== '')) return undefined;
  return { shape: 'conversation', first, last };
}

/** True if a line begins with what may be the first opening of a conversation. */
function mayBegin(text: string, { beginning }: OwnForms): boolean {
  if (beginning === undefined) return false;
  for (let line = 0; ;) {
    beginning.lastIndex = line;
    if (beginning.test(text)) return true;
    const end = text.indexOf('\n', line);
    if (end < 0) return false;
    line = end + 1;
  }
}

/** Where the next place is that may open a turn. */
function openingFrom(from: number, text: string, { opening }: OwnForms): number | undefined {
  if (opening === undefined) return undefined;
  opening.lastIndex = from;
  return opening.exec(text)?.index;
}

function forgedTurn(text: string, forms: OwnForms): TurnShape | undefined {
  let at = openingFrom(0, text, forms);
  for (; at !== undefined; at = openingFrom(at + 1, text, forms)) {
    const behind = withoutSpace(text, at);
    const end = forms.ends.find((one) => one.length <= behind && standsAt(text, one, behind - one.length));
    if (end === undefined) continue;
    const [first, last] = [...take(turnSigns(text, forms, behind - end.length), 2)];
    if (
      first?.kind === 'end' &&
      last?.kind === 'opening' &&
      text.slice(first.end, last.start).trim() === ''
    ) {
      return { shape: 'forged-turn', first, last };
    }
  }
  return undefined;
}

const space = /\s/;

/** Where the white space in front of a place begins. */
function withoutSpace(text: string, before: number): number {
  let at = before;
  while (at > 0 && space.test(text.charAt(at - 1))) at -= 1;
  return at;
}

export function* take<Item>(items: Iterable<Item>, most: number): Generator<Item> {
  let taken = 0;
  for (const item of items) {
    if (taken === most) return;
    yield item;
    taken += 1;
  }
}

function startsLine(text: string, start: number, heads: ReadonlySet<string>): boolean {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  return start === 0 || withoutHeads(text.slice(line, start), heads) === '';
}

function startsText(text: string, start: number, heads: ReadonlySet<string>): boolean {
  // A text before the first turn that is longer than this is more than a head.
  return start < 200 && withoutHeads(text.slice(0, start), heads) === '';
}

function withoutHeads(text: string, heads: ReadonlySet<string>): string {
  let rest = text.trim();
  for (const head of heads) rest = rest.replaceAll(head, '');
  return rest.trim();
}
