/**
 * Where a text opens and ends turns, and what that comes to: a whole conversation, a forged turn, or nothing that a
 * model could take for one. Reads one text; knows neither request nor prompt.
 */
import type { TurnForms, TurnOpening } from '../../tokens/marker-families.ts';
import type { MarkerPattern } from '../../tokens/markers.ts';

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

/** Beyond this many nothing new is learnt from a text. */
const mostHits = 4096;

/** All markers in the text, in order, the longest where several begin. Linear: they are plain texts. */
export function findMarkers(text: string, { pattern }: MarkerPattern): MarkerHit[] {
  const hits: MarkerHit[] = [];
  if (pattern === undefined) return hits;
  for (const match of text.matchAll(pattern)) {
    hits.push({ text: match[0], start: match.index });
    if (hits.length === mostHits) break;
  }
  return hits;
}

export function turnSigns(text: string, hits: readonly MarkerHit[], forms: TurnForms): TurnSign[] {
  return hits.flatMap((hit): TurnSign[] => {
    const after = hit.start + hit.text.length;
    if (forms.ends.includes(hit.text)) return [{ ...hit, kind: 'end', end: after }];
    for (const opening of forms.openings) {
      const mark = opening.start === hit.text ? openingAt(text, hit, opening) : undefined;
      if (mark !== undefined) return [mark];
    }
    return [];
  });
}

const roleName = /[A-Za-z_][\w-]{0,30}/y;
/** What follows an opening on its own line in source code and templates, where it is part of a string and no turn begins. */
const codeAfter = new Set(['\\', '"', "'", '`', '{', '}']);
/** What stands for a turn's text in templates and in descriptions of them; a text may well begin with a brace or a quote. */
const placeholder = /\{[{%]|\{[A-Za-z_][\w.]*\}|"""|'''/y;

/** The turn that the opening at this place begins; undefined if it is written in another way than a template does. */
function openingAt(text: string, hit: MarkerHit, { named, close }: TurnOpening): TurnSign | undefined {
  const after = hit.start + hit.text.length;
  roleName.lastIndex = after;
  const role = named ? roleName.exec(text)?.[0] : undefined;
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

/** @param heads texts that may stand before a conversation */
export function turnShape(
  text: string,
  marks: readonly TurnSign[],
  heads: ReadonlySet<string>,
): TurnShape | undefined {
  const [first] = marks;
  if (first === undefined) return undefined;
  if (first.kind === 'opening' && isConversation(text, marks, heads)) {
    return { shape: 'conversation', first, last: marks.at(-1) ?? first };
  }
  for (const [index, mark] of marks.entries()) {
    const next = marks[index + 1];
    if (mark.kind !== 'end' || next?.kind !== 'opening') continue;
    if (text.slice(mark.end, next.start).trim() === '')
      return { shape: 'forged-turn', first: mark, last: next };
  }
  return undefined;
}

/**
 * A name and a line end of its own make an opening unmistakable. A bare marker is also how people write about it, so
 * there the text has to be a conversation from its first character to its last.
 */
function isConversation(text: string, marks: readonly TurnSign[], heads: ReadonlySet<string>): boolean {
  const [first, second] = marks;
  if (first === undefined || second === undefined) return false;
  if (first.role !== undefined) return startsLine(text, first.start, heads);
  const last = marks.at(-1) ?? first;
  return startsText(text, first.start, heads) && text.slice(last.end).trim() === '';
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
