/** Which calls that the conversation holds are not in its prompt, each looked for between the texts around it. */
import type { SeenWriting } from './form-writing.ts';
import { lostAmong } from './lost-arguments.ts';
import type { PlacedText, PlacedTexts } from './placed-texts.ts';
import type { CallPart } from './call-parts.ts';
import type { MessageParts } from './prompt-parts.ts';
import { ReadingBudget } from './reading-budget.ts';
import type { JsonPath } from '../request/request.ts';
import { isAnchor, outside, overlapping } from './text-ranges.ts';
import { standsInCalls } from './told-calls.ts';
import type { Found } from './written-forms.ts';

export interface LostCall {
  /** `call`: neither name nor arguments; `call-arguments`: all of them; `arguments-cut`: some of them. */
  readonly what: 'call' | 'call-arguments' | 'arguments-cut';
  readonly path: JsonPath;
  readonly unread: boolean;
  /** Index of its message. */
  readonly message: number;
}

/** Where the calls of a message stand: from the texts of the messages before to those of the messages after. */
export interface CallGap extends Found {
  /** Index of the message. */
  readonly message: number;
  readonly calls: readonly CallPart[];
  /** The places of the message's own texts in it. */
  readonly own: readonly Found[];
  /** Texts of messages that were found where a call may say the same. */
  readonly covered: readonly string[];
}

export function callGaps(
  messages: readonly MessageParts[],
  { texts }: PlacedTexts,
  rendered: string,
): CallGap[] {
  const gaps: CallGap[] = [];
  let at = 0;
  let start = 0;
  for (const [index, { calls }] of messages.entries()) {
    for (let one = texts[at]; one !== undefined && one.message < index; one = texts[at]) {
      if (standsInTurn(one)) start = Math.max(start, one.place?.end ?? 0);
      at += 1;
    }
    if (calls.length === 0) continue;
    const own: Found[] = [];
    const covered: string[] = [];
    let end = rendered.length;
    for (let after = at; ; after += 1) {
      const one = texts[after];
      if (one?.place === undefined || !standsInTurn(one)) {
        if (one === undefined) break;
        continue;
      }
      if (standsInCalls(one.part.text, calls)) covered.push(one.part.text);
      else if (one.message === index) own.push(one.place);
      else {
        end = one.place.start;
        break;
      }
    }
    gaps.push({ message: index, start, end: Math.max(start, end), calls, own, covered });
  }
  return gaps;
}

/** A short result, such as "1", may have been found inside the call that it is of, and would cut it off. */
function standsInTurn({ part, place }: PlacedText): boolean {
  return isAnchor(place) && part.sort !== 'instructions' && part.sort !== 'later-instructions';
}

/** Looking for what is missing reads so many times the prompt at most, and a short one a little more often. */
const mostReads = 8;
const freeCharacters = 1_000_000;

export function lostCalls(
  gaps: readonly CallGap[],
  inOrder: boolean,
  rendered: string,
  seen: SeenWriting,
): LostCall[] {
  // Those that were met as they were sent are not looked for.
  if (!inOrder || gaps.every(({ calls }) => calls.length === 0)) return [];
  const writings = seen.at('call-argument', 'nested-argument');
  const budget = new ReadingBudget(mostReads * rendered.length + freeCharacters);
  const found: LostCall[] = [];
  for (const { start, end, calls, own, covered } of regionsOf(gaps)) {
    if (calls.length === 0) continue;
    const within = own.map((one) => ({ start: one.start - start, end: one.end - start }));
    const text = outside(rendered.slice(start, end), within);
    const messages = new Map(calls.map(({ call, message }) => [call, message]));
    for (const { call, what } of lostAmong([...messages.keys()], covered, text, writings, budget)) {
      const { path, argumentsPath, unread } = call;
      const at = what === 'arguments-cut' ? [...path, ...argumentsPath] : path;
      found.push({ what, path: at, unread, message: messages.get(call) ?? 0 });
    }
  }
  return found;
}

interface PlacedCall {
  readonly call: CallPart;
  /** Index of its message. */
  readonly message: number;
}

interface Region extends Found {
  readonly calls: readonly PlacedCall[];
  readonly own: readonly Found[];
  readonly covered: readonly string[];
}

/** Gaps that overlap hold the calls of one another: one occurrence must not stand for two. */
function regionsOf(gaps: readonly CallGap[]): Region[] {
  return overlapping(gaps).map((region) => ({
    start: region[0]?.start ?? 0,
    end: region.reduce((end, gap) => Math.max(end, gap.end), 0),
    calls: region.flatMap(({ calls, message }) => calls.map((call): PlacedCall => ({ call, message }))),
    own: region.flatMap(({ own }) => own),
    covered: region.flatMap(({ covered }) => covered),
  }));
}
