/**
 * The shape that a template gives to turns, read off renderings of known texts: what opens each role's turn, what ends
 * one, what a prompt ends with. Pure; asks nothing, and knows no family.
 */
import type { RoleMarker } from '../../exchange/model-facts.ts';
import type { MarkerPattern } from '../../tokens/markers.ts';

/** The texts of the probe's messages; none of them stands in a template. */
export const probeTexts = {
  system: 'Weirsystem',
  firstUser: 'Weirquestion',
  assistant: 'Weiranswer',
  lastUser: 'Weirfollowup',
} as const;

/** Renderings of user, assistant, user; '' where the template refused. */
export interface TurnRenderings {
  /** With a system message in front or, if that was refused, without; ready for an answer. */
  readonly whole: string;
  /** Without a system message. */
  readonly withoutSystem: string;
  /** As `whole`, with `add_generation_prompt: false`. */
  readonly open: string;
  /** As `whole`, with `enable_thinking: false`. */
  readonly thinkingOff: string;
}

export interface TurnShape {
  readonly roleMarkers: readonly RoleMarker[];
  /** What closes a user's and an assistant's turn, without white space around it; distinct. */
  readonly turnEnds: readonly string[];
  /** What ends each user's turn, without white space around it; absent where that is no marker, or not shown. */
  readonly userTurnEnd?: string;
  /** '' if the template writes none. */
  readonly generationPrompt: string;
  /** What follows the generation prompt when thinking is off; '' if nothing does. */
  readonly thinkTail: string;
}

export interface ShapeContext {
  readonly bosText: string;
  readonly eosText: string;
  readonly markers: MarkerPattern;
}

/** What stands around the texts of a rendered conversation. */
interface Gaps {
  /** Before the first text, without BOS. */
  readonly head: string;
  /** The BOS that stood there; '' if none did. */
  readonly bos: string;
  /** Before the first user text of a conversation without instructions, without BOS; undefined if it was refused. */
  readonly bareHead: string | undefined;
  /** Between instructions and question; undefined if they are not in this order. */
  readonly afterSystem: string | undefined;
  readonly beforeAnswer: string;
  readonly afterAnswer: string;
  /** After the last user text, ready for an answer. */
  readonly tail: string;
  /** The end of a user's turn, where `add_generation_prompt: false` shows it. */
  readonly userEnd: string | undefined;
}

const { system, firstUser, assistant, lastUser } = probeTexts;

/** Longer ones hold a text of the template's own, and open no turn that a client would write. */
const mostCharacters = 200;

export function turnShapeOf(renderings: TurnRenderings, context: ShapeContext): TurnShape {
  const gaps = gapsOf(renderings, context);
  const thinkingOff = gapsOf({ ...renderings, whole: renderings.thinkingOff }, context);
  const { afterAnswer, beforeAnswer, afterSystem, tail } = gaps;
  const user = userOpening(gaps, context);
  // BOS in front of a turn is no part of the turn before it.
  const assistantEnd = upTo(afterAnswer, afterAnswer.endsWith(gaps.bos + user) ? gaps.bos + user : user);
  const systemEnd = afterSystem === undefined ? undefined : upTo(afterSystem, user);
  const userEnd =
    gaps.userEnd ?? guessedUserEnd(gaps, context, assistantEnd === systemEnd ? systemEnd : undefined);
  // The last question may be followed by more than the others.
  const answerEnd = beforeAnswer.startsWith(userEnd) ? userEnd : assistantEnd;
  const [instructions = ''] = [gaps, thinkingOff]
    .map((one) => systemOpening(one, user, assistantEnd, context))
    .toSorted((a, b) => a.length - b.length);
  return {
    roleMarkers: [
      { role: 'system', opening: instructions },
      { role: 'user', opening: user },
      { role: 'assistant', opening: withoutStart(beforeAnswer, answerEnd).trimStart() },
    ].filter(({ opening }) => isShort(opening)),
    ...endOfQuestions(gaps, context),
    turnEnds: [...new Set([userEnd.trim(), assistantEnd.trim()])].filter(isShort),
    generationPrompt: tail.slice(userEnd.length).trimStart(),
    thinkTail: thinkingOff.tail.startsWith(tail) ? thinkingOff.tail.slice(tail.length) : '',
  };
}

/** The same behind the first question and the last, and only where the template was seen to write it without more. */
function endOfQuestions(
  { userEnd, beforeAnswer }: Gaps,
  { markers }: ShapeContext,
): Pick<TurnShape, 'userTurnEnd'> {
  const end = userEnd?.trim() ?? '';
  const [first] = markerPlaces(end, markers);
  if (first?.start !== 0 || !isShort(end) || !beforeAnswer.trimStart().startsWith(end)) return {};
  return { userTurnEnd: end };
}

function gapsOf(renderings: TurnRenderings, { bosText }: ShapeContext): Gaps {
  const { whole, withoutSystem, open } = renderings;
  // Some templates move the instructions into the last user's turn, which then is not like the others.
  const inOrder = whole.includes(system) && whole.indexOf(system) < whole.indexOf(firstUser);
  const moved = whole.includes(system) && !inOrder;
  const main = moved && withoutSystem !== '' ? withoutSystem : whole;
  const tail = after(main, lastUser);
  const closed = after(open, lastUser);
  const bos = bosText !== '' && main.startsWith(bosText) ? bosText : '';
  return {
    head: before(main, inOrder ? system : firstUser).slice(bos.length),
    bos,
    bareHead: withoutSystem === '' ? undefined : withoutStart(before(withoutSystem, firstUser), bosText),
    afterSystem: inOrder ? between(main, system, firstUser) : undefined,
    beforeAnswer: between(main, firstUser, assistant),
    afterAnswer: between(main, assistant, lastUser),
    tail,
    userEnd: closed.length < tail.length && tail.startsWith(closed) ? closed : undefined,
  };
}

/** What stands in front of user texts wherever they are; the end of the turn before differs from place to place. */
function userOpening(gaps: Gaps, context: ShapeContext): string {
  const { afterAnswer, bareHead, afterSystem, userEnd, bos } = gaps;
  const seen = [afterAnswer, ...(bareHead === undefined ? [] : [bareHead])];
  const everywhere = sharedEnd([...seen, ...(afterSystem === undefined ? [] : [afterSystem])]);
  // Instructions that stand inside the user's turn have no opening behind them.
  const common = everywhere.trim() === '' ? sharedEnd(seen) : everywhere;
  let opening = afterAnswer.slice(outsideMarkers(afterAnswer, afterAnswer.length - common.length, context));
  for (const end of [userEnd ?? '', context.eosText]) {
    if (withoutStart(opening, end).trim() !== '') opening = withoutStart(opening, end);
  }
  const start = turnStartOf(gaps, context);
  if (userEnd === undefined && start !== undefined) opening = fromLast(opening, start);
  opening = opening.trimStart();
  // A name alone opens nothing: then BOS, written in front of every turn, is what does.
  const isName = !/[^\p{L}\p{N}\s]/u.test(opening);
  return isName && afterAnswer.endsWith(bos + opening) ? bos + opening : opening;
}

/** For templates that write the generation prompt whether or not it is wanted, or never. */
function guessedUserEnd(gaps: Gaps, context: ShapeContext, commonTurnEnd: string | undefined): string {
  const { tail, beforeAnswer } = gaps;
  const start = turnStartOf(gaps, context);
  if (start !== undefined && tail.includes(start)) return before(tail, start);
  if (commonTurnEnd !== undefined && tail.startsWith(commonTurnEnd)) return commonTurnEnd;
  // `[INST]…[/INST]`: what ends the question is what an answer follows.
  return tail.trim() === beforeAnswer.trim() ? '' : tail;
}

/** The marker that the first turn opens with, if the prompt begins with one. */
function turnStartOf({ head }: Gaps, { markers }: ShapeContext): string | undefined {
  const [first] = markerPlaces(head, markers);
  return first?.start === 0 ? head.slice(0, first.end) : undefined;
}

function systemOpening(gaps: Gaps, user: string, assistantEnd: string, context: ShapeContext): string {
  const { afterSystem, bareHead, bos } = gaps;
  if (afterSystem === undefined) return '';
  const userPlaces = markerPlaces(user, context.markers);
  const opens = userPlaces[0]?.start === 0 ? user.slice(0, userPlaces[0].end) : undefined;
  let opening = (opens === bos ? bos : '') + gaps.head;
  const preamble = bareHead === undefined ? '' : upTo(bareHead, user);
  if (withoutStart(opening, preamble).trim() !== '') opening = withoutStart(opening, preamble);
  // A template may write instructions of its own before, in a turn of the same form.
  if (opens !== undefined) opening = fromLast(opening, opens);
  else if (assistantEnd.trim() !== '') opening = withoutStart(fromLast(opening, assistantEnd), assistantEnd);
  // Behind its last marker stands a role's name or white space, as in a user's opening; the rest is instructions.
  const last = markerPlaces(opening, context.markers).at(-1);
  if (last === undefined) return opening.trimStart();
  const named = user.slice(userPlaces.at(-1)?.end ?? 0).trim() !== '';
  const kept = (named ? /^[^\n]*\n?/ : /^\s*/).exec(opening.slice(last.end))?.[0] ?? '';
  return (opening.slice(0, last.end) + kept).trimStart();
}

function isShort(text: string): boolean {
  return text.trim() !== '' && text.length <= mostCharacters;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function markerPlaces(text: string, { pattern }: MarkerPattern): Place[] {
  if (pattern === undefined) return [];
  return [...text.matchAll(pattern)].map(({ index, 0: marker }) => ({
    start: index,
    end: index + marker.length,
  }));
}

/** `at`, or the end of the marker that it stands in. */
function outsideMarkers(text: string, at: number, { markers }: ShapeContext): number {
  const around = markerPlaces(text, markers).find(({ start, end }) => start < at && at < end);
  return around?.end ?? at;
}

function sharedEnd(texts: readonly string[]): string {
  const [first = '', ...others] = texts;
  let length = 0;
  while (length < first.length && others.every((text) => text.at(-1 - length) === first.at(-1 - length)))
    length += 1;
  return first.slice(first.length - length);
}

/** The text from the last occurrence of a part on; all of it if there is none. */
function fromLast(text: string, part: string): string {
  return text.slice(Math.max(0, text.lastIndexOf(part)));
}

function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}

/** What stands before a text's end, if that is its end. */
function upTo(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, text.length - end.length) : '';
}

function after(whole: string, mark: string): string {
  const at = whole.lastIndexOf(mark);
  return at < 0 ? '' : whole.slice(at + mark.length);
}

function before(whole: string, mark: string): string {
  const at = whole.indexOf(mark);
  return at < 0 ? '' : whole.slice(0, at);
}

function between(whole: string, left: string, right: string): string {
  const from = whole.indexOf(left);
  const to = whole.indexOf(right);
  return from < 0 || to < from ? '' : whole.slice(from + left.length, to);
}
