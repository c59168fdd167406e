/**
 * The short way for what most conversations are: what the messages say stands in the prompt as it was sent, or as this
 * template was seen to write it, one behind another, and so do their calls. A longer text that does not is judged by what is
 * between its neighbours. Where anything else is otherwise, nothing is said, and the long way tells what it is.
 */
import { AwaitedTexts } from './awaited-texts.ts';
import { callsOf } from './call-parts.ts';
import { CallWays } from './call-ways.ts';
import type { SeenWriting } from './form-writing.ts';
import type { CallGap } from './lost-calls.ts';
import { standsInQuotes, type LostText } from './lost-texts.ts';
import { NearPlace } from './near-place.ts';
import { OpenGaps } from './open-gaps.ts';
import { PlainMessage } from './plain-message.ts';
import {
  isLeading,
  partsOfMessage,
  plainContent,
  standingIn,
  type Standing,
  type TextPart,
  type TextSort,
} from './prompt-parts.ts';
import { wholePlace } from './text-between.ts';
import { trimmed } from './text-place.ts';
import { leastAnchor, Places } from './text-ranges.ts';
import type { ChatMessage, Json } from '../request/request.ts';
import { instructs } from '../request/system-text.ts';
import type { Found } from './written-forms.ts';

export interface InOrder {
  /** Where the longer texts stand, in order; of all of them only where there are tools. */
  readonly ranges: readonly Found[];
  /** Where calls stand, in order, with those that were not met as they were sent. */
  readonly gaps: readonly CallGap[];
  /** Those that are not there, or not all of them. */
  readonly texts: readonly LostText[];
}

/**
 * Undefined where the prompt does not hold the messages so.
 * @param seen how this template writes what it is given
 * @param hasTools only then, and from the first call on, it is told where texts stand
 */
export function readInOrder(
  messages: readonly ChatMessage[],
  rendered: string,
  seen: SeenWriting,
  hasTools: boolean,
): InOrder | undefined {
  const reading = new Reading(messages, rendered, seen, hasTools);
  for (let index = 0; index < messages.length; index += 1) if (!reading.goOn(index)) return undefined;
  return reading.end() ? reading : undefined;
}

/** Beyond so many texts that are not there one behind another, too little is known of the order. */
const mostAwaited = 8;

const none: readonly never[] = [];

class Reading implements InOrder {
  texts: readonly LostText[] = none;
  readonly #messages: readonly ChatMessage[];
  readonly #rendered: string;
  readonly #plain = new PlainMessage();
  /** Of the longer texts; without tools or calls of those of one message only. */
  readonly #places = new Places();
  #keepsPlaces: boolean;
  readonly #place: NearPlace;
  /** Sorts of reasoning that were not where they should be: the template writes none. */
  readonly #unwritten = new Set<TextSort>();
  readonly #standing: Standing;
  readonly #seen: SeenWriting;
  readonly #awaited: AwaitedTexts;
  readonly #gaps: OpenGaps;
  readonly #callWays: CallWays;
  /** Behind the last text. */
  #textEnd = 0;
  /** Behind the last longer text of a turn. */
  #turnEnd = 0;
  /** Of the message that is read: whether texts of it are awaited, and whether it has calls or a text that is there. */
  #hasAwaited = false;
  #hasMet = false;
  /** True if a text was found only when the next one was. */
  #hasLate = false;

  constructor(messages: readonly ChatMessage[], rendered: string, seen: SeenWriting, hasTools: boolean) {
    this.#messages = messages;
    this.#rendered = rendered;
    this.#seen = seen;
    this.#place = new NearPlace(rendered);
    this.#awaited = new AwaitedTexts(rendered, seen);
    this.#keepsPlaces = hasTools;
    this.#gaps = new OpenGaps(messages, rendered, this.#places);
    this.#callWays = new CallWays(rendered);
    this.#standing = standingIn(messages);
  }

  get ranges(): readonly Found[] {
    return this.#places.from(0, this.#places.count);
  }

  get gaps(): readonly CallGap[] {
    return this.#gaps.all();
  }

  /** False where the message is not there as it was sent. */
  goOn(index: number): boolean {
    const message = this.#messages[index];
    const plain = this.#plain;
    if (message === undefined || !plain.read(message)) return false;
    const { content, calls } = plain;
    const before = this.#turnEnd;
    if (!this.#keepsPlaces) this.#places.clear();
    const firstOwn = this.#places.count;
    this.#hasAwaited = false;
    this.#hasMet = calls.length > 0;
    if (plain.reasoning !== '' && !this.#readReasoning(message, index)) return false;
    if (typeof content === 'string') {
      if (content !== '' && !this.#readText(message, index, content)) return false;
    } else {
      for (const { text } of content) {
        if (!this.#readText(message, index, text as string)) return false;
        if (standsInQuotes(text as string, this.#textEnd, this.#rendered)) return false;
      }
    }
    this.#noteMet(index);
    if (calls.length > 0) {
      const isMet = this.#meets(calls);
      // They might stand inside of a text that is not found yet.
      if (!isMet && !this.#awaited.isReasoningAlone) return false;
      this.#keepsPlaces = true;
      this.#gaps.open(index, before, firstOwn, isMet ? none : callsOf(message));
    }
    return true;
  }

  /** A message whose texts are awaited is not gone if another of its parts is there. */
  #noteMet(index: number): void {
    if (this.#hasAwaited && this.#hasMet) this.#awaited.noteOther(index);
  }

  end(): boolean {
    if (!this.#settle(this.#rendered.length)) return false;
    // Where calls stand was not known while texts before them were awaited.
    if (this.#hasLate && this.#gaps.hasUnmet) return false;
    const lost = this.#awaited.lost();
    if (lost === undefined) return false;
    this.texts = lost;
    return true;
  }

  #readText(message: ChatMessage, index: number, text: string): boolean {
    const needle = trimmed(text);
    if (needle === '') return true;
    let start = this.#place.byWay(message.role, needle);
    if (start < 0) {
      // What is looked for later may hold a short text by chance.
      if (needle.length < leastAnchor && this.#awaited.count > 0) return false;
      if (!this.#isExpectedGone(needle)) start = this.#place.near(message.role, needle, this.#awaited.slack);
      if (start < 0) return this.#readOtherwise(message, index, text, needle);
    }
    return this.#meet(message, index, start, needle);
  }

  /** What does not stand near as it was sent. */
  #readOtherwise(message: ChatMessage, index: number, text: string, needle: string): boolean {
    if (needle.length < leastAnchor) return false;
    const part = this.#partOf(message, index, text);
    if (part === undefined) return false;
    if (this.#isExpectedGone(needle)) return this.#await(part, index, message.role);
    const near = this.#place.within(needle, this.#awaited.slack);
    const whole = wholePlace(part, near, this.#seen);
    if (whole !== undefined) {
      const written = near.slice(whole.start, whole.end);
      return this.#meet(message, index, this.#place.at + whole.start, written);
    }
    const start = this.#place.far(needle);
    if (start >= 0) return this.#meet(message, index, start, needle);
    return this.#await(part, index, message.role);
  }

  #isExpectedGone(needle: string): boolean {
    return this.#awaited.leavesOutBeside && this.#plain.calls.length > 0 && needle.length >= leastAnchor;
  }

  /** Undefined where not all of the text is meant for the model. */
  #partOf(message: ChatMessage, index: number, text: string): TextPart | undefined {
    const { content, calls } = this.#plain;
    if (typeof content === 'string' && !instructs(message)) {
      return plainContent(message, content, calls.length > 0);
    }
    const { texts } = partsOfMessage(message, index, this.#standing);
    return texts.find((part) => part.member === 'content' && part.text === text);
  }

  /** False where too many are. */
  #await(part: TextPart, message: number, role: string): boolean {
    this.#hasAwaited = true;
    this.#awaited.add(part, message, role, this.#textEnd);
    return this.#awaited.count <= mostAwaited;
  }

  #meet(message: ChatMessage, index: number, start: number, written: string): boolean {
    const end = start + written.length;
    if (written.length >= leastAnchor) {
      if (this.#awaited.count > 0 && !this.#settle(start)) return false;
      this.#note(start, end, index, instructs(message) ? undefined : written);
    }
    this.#place.at = end;
    this.#textEnd = end;
    this.#hasMet = true;
    return true;
  }

  /** False where it can not be told what became of the texts before that place. */
  #settle(end: number): boolean {
    const late = this.#awaited.settle(end);
    if (late === undefined) return false;
    this.#hasLate ||= late.length > 0;
    for (const { awaited, place } of late) {
      if (place.end - place.start < leastAnchor) continue;
      const { message, part } = awaited;
      this.#note(place.start, place.end, message, isLeading(part.sort) ? undefined : part.text);
    }
    return true;
  }

  /**
   * A longer text: a short one must not hide the name of a tool, nor end where calls stand.
   * @param ofTurn the text, where it is none of instructions
   */
  #note(start: number, end: number, message: number, ofTurn: string | undefined): void {
    this.#places.add(start, end);
    if (ofTurn === undefined) return;
    this.#gaps.close(start, ofTurn, message);
    this.#turnEnd = Math.max(this.#turnEnd, end);
  }

  #readReasoning({ role, path }: ChatMessage, message: number): boolean {
    const { reasoning: text, reasoningMember: member } = this.#plain;
    const needle = trimmed(text);
    if (needle === '') return true;
    const sort = message < this.#standing.lastQuestion ? 'reasoning' : 'loop-reasoning';
    if (!this.#unwritten.has(sort)) {
      let start = this.#place.byWay(sort, needle);
      if (start < 0) start = this.#place.near(sort, needle, this.#awaited.slack);
      if (start >= 0) {
        const end = start + needle.length;
        if (needle.length >= leastAnchor) this.#note(start, end, message, needle);
        this.#hasMet = true;
        this.#place.at = end;
        this.#textEnd = end;
        return true;
      }
      this.#unwritten.add(sort);
    }
    // A short one may stand anywhere.
    if (needle.length < leastAnchor) return false;
    const part: TextPart = { sort, text, path: [...path, member], member, listed: false };
    this.#await(part, message, role);
    return true;
  }

  #meets(calls: readonly Json[]): boolean {
    let at: number | undefined = this.#place.at;
    for (const call of calls) {
      at = this.#callWays.endOf(call, at);
      if (at === undefined) return false;
    }
    this.#place.at = at;
    return true;
  }
}
