/**
 * The short way for what most conversations are: what the messages say stands in the prompt as it was sent, one behind
 * another, and so do their calls. Reasoning alone may be missing. Where anything else is otherwise, nothing is said, and the
 * long way tells what it is.
 */
import { AwaitedReasoning } from './awaited-reasoning.ts';
import { CallWays } from './call-ways.ts';
import type { SeenWriting } from './form-writing.ts';
import type { CallGap } from './lost-calls.ts';
import type { LostText } from './lost-texts.ts';
import { OpenGaps } from './open-gaps.ts';
import { PlainMessage } from './plain-message.ts';
import { callsOf } from './prompt-parts.ts';
import { placeOf, standsAt, trimmed } from './text-place.ts';
import { leastAnchor } from './text-ranges.ts';
import type { ChatMessage, Json } from '../request/request.ts';
import { instructs } from '../request/system-text.ts';
import type { Found } from './written-forms.ts';

export interface InOrder {
  /** Where the longer texts stand, in order; of all of them only where there are tools. */
  readonly ranges: readonly Found[];
  /** Where calls stand, in order, with those that were not met as they were sent. */
  readonly gaps: readonly CallGap[];
  /** Reasoning that is not there, or not all of it. */
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

/** What stands between two texts is markup, most often the same for the same role. */
const reach = 4096;
/** Longer ways, as over the tools of a system message. */
const mostFar = 4;
/** In the place of a way: such reasoning is not there. */
const gone = -1;

const none: readonly never[] = [];

class Reading implements InOrder {
  readonly #messages: readonly ChatMessage[];
  readonly #rendered: string;
  readonly #plain = new PlainMessage();
  /** Where the longer texts start and end, by turns; without tools or calls those of one message only. */
  readonly #bounds: number[] = [];
  #boundCount = 0;
  #keepsBounds: boolean;
  /** By role, or by the sort of reasoning: how far behind what was before it such a text was found. */
  readonly #ways = new Map<string, number>();
  readonly #lastQuestion: number;
  readonly #reasoning: AwaitedReasoning;
  readonly #gaps: OpenGaps;
  readonly #callWays: CallWays;
  /** Behind what was found last. */
  #at = 0;
  /** Behind the last text. */
  #textEnd = 0;
  /** Behind the last longer text of a turn. */
  #turnEnd = 0;
  #far = 0;

  constructor(messages: readonly ChatMessage[], rendered: string, seen: SeenWriting, hasTools: boolean) {
    this.#messages = messages;
    this.#rendered = rendered;
    this.#reasoning = new AwaitedReasoning(rendered, seen);
    this.#keepsBounds = hasTools;
    this.#gaps = new OpenGaps(messages, rendered);
    this.#callWays = new CallWays(rendered);
    this.#lastQuestion = messages.findLastIndex(({ role }) => role === 'user');
  }

  get ranges(): readonly Found[] {
    return this.#rangesOf(0, this.#boundCount);
  }

  get texts(): readonly LostText[] {
    return this.#reasoning.lost;
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
    if (!this.#keepsBounds) this.#boundCount = 0;
    const firstOwn = this.#boundCount;
    if (plain.reasoning !== '' && !this.#readReasoning(message, index)) return false;
    if (typeof content === 'string') {
      if (content !== '' && !this.#readText(message, content)) return false;
    } else {
      for (const { text } of content) {
        if (!this.#readText(message, text as string) || this.#isCode(text as string)) return false;
      }
    }
    if (calls.length > 0) {
      const others = this.#meets(calls) ? none : callsOf(message);
      const lastOwn = this.#boundCount;
      this.#keepsBounds = true;
      this.#gaps.open(index, before, () => this.#rangesOf(firstOwn, lastOwn), others);
    }
    return true;
  }

  end(): boolean {
    return this.#reasoning.settle(this.#rendered.length);
  }

  #readText(message: ChatMessage, text: string): boolean {
    const needle = trimmed(text);
    if (needle === '') return true;
    const { role } = message;
    const rendered = this.#rendered;
    const way = this.#ways.get(role);
    let start = this.#at + (way ?? 0);
    if (way === undefined || !standsAt(rendered, needle, start)) {
      // Reasoning that is looked for later may hold a short text by chance.
      if (needle.length < leastAnchor && this.#reasoning.isAny) return false;
      start = this.#near(needle);
      if (start < 0 && needle.length >= leastAnchor && this.#far < mostFar) {
        this.#far += 1;
        start = placeOf(rendered, needle, this.#at);
      }
      if (start < 0) return false;
      this.#ways.set(role, start - this.#at);
    }
    const end = start + needle.length;
    if (needle.length >= leastAnchor) {
      if (this.#reasoning.isAny && !this.#reasoning.settle(start)) return false;
      this.#note(start, end, instructs(message) ? undefined : needle);
    }
    this.#at = end;
    this.#textEnd = end;
    return true;
  }

  #near(needle: string): number {
    const from = this.#at;
    const way = placeOf(this.#rendered.slice(from, from + reach + needle.length), needle);
    return way < 0 ? -1 : from + way;
  }

  /**
   * A longer text: a short one must not hide the name of a tool, nor end where calls stand.
   * @param ofTurn the text, where it is none of instructions
   */
  #note(start: number, end: number, ofTurn: string | undefined): void {
    this.#bounds[this.#boundCount] = start;
    this.#bounds[this.#boundCount + 1] = end;
    this.#boundCount += 2;
    if (ofTurn === undefined) return;
    this.#gaps.close(start, ofTurn);
    this.#turnEnd = end;
  }

  #rangesOf(first: number, last: number): readonly Found[] {
    const bounds = this.#bounds;
    return Array.from({ length: (last - first) / 2 }, (_, index) => ({
      start: bounds[first + index * 2] ?? 0,
      end: bounds[first + index * 2 + 1] ?? 0,
    }));
  }

  /** Inside of quotes, as in a written list of parts; white space at the text's beginning is there, too. */
  #isCode(text: string): boolean {
    const needle = trimmed(text);
    const start = this.#textEnd - needle.length;
    const spaced = start - (text.length - text.trimStart().length);
    return needle !== '' && [start, spaced].some((at) => /['"]/.test(this.#rendered.charAt(at - 1)));
  }

  #readReasoning({ role, path }: ChatMessage, message: number): boolean {
    const { reasoning: text, reasoningMember: member, content, calls } = this.#plain;
    const needle = trimmed(text);
    if (needle === '') return true;
    const sort = message < this.#lastQuestion ? 'reasoning' : 'loop-reasoning';
    const way = this.#ways.get(sort);
    if (way !== gone) {
      let start = this.#at + (way ?? 0);
      if (way === undefined || !standsAt(this.#rendered, needle, start)) start = this.#near(needle);
      this.#ways.set(sort, start < 0 ? gone : start - this.#at);
      if (start >= 0) {
        const end = start + needle.length;
        if (needle.length >= leastAnchor) this.#note(start, end, needle);
        this.#at = end;
        this.#textEnd = end;
        return true;
      }
    }
    // A short one may stand anywhere.
    if (needle.length < leastAnchor) return false;
    this.#reasoning.add({
      part: { sort, text, path: [...path, member], member, listed: false },
      message,
      role,
      alone: typeof content === 'string' && content.trim() === '' && calls.length === 0,
      start: this.#textEnd,
    });
    return true;
  }

  #meets(calls: readonly Json[]): boolean {
    let at: number | undefined = this.#at;
    for (const call of calls) {
      at = this.#callWays.endOf(call, at);
      if (at === undefined) return false;
    }
    this.#at = at;
    return true;
  }
}
