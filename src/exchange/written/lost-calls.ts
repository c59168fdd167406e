/** Which calls that the conversation holds are not in its prompt, each looked for between the texts around it. */
import type { FormWriting, SeenWriting } from './form-writing.ts';
import { holdsName } from './name-place.ts';
import type { PlacedText, PlacedTexts } from './placed-texts.ts';
import { jsonTexts, type CallPart, type MessageParts } from './prompt-parts.ts';
import type { JsonPath } from '../request/request.ts';
import { isAnchor, outside } from './text-ranges.ts';
import { holdsBeginning, leastTold, type Found } from './written-forms.ts';

export interface LostCall {
  readonly what: 'call' | 'call-arguments';
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
    let after = at;
    for (let one = texts[after]; one?.message === index; one = texts[after]) {
      if (standsInTurn(one) && one.place !== undefined) own.push(one.place);
      after += 1;
    }
    for (let one = texts[after]; one !== undefined && !standsInTurn(one); one = texts[after]) after += 1;
    const end = Math.max(start, texts[after]?.place?.start ?? rendered.length);
    gaps.push({ message: index, start, end, calls, own });
  }
  return gaps;
}

/** A short result, such as "1", may have been found inside the call that it is of, and would cut it off. */
function standsInTurn({ part, place }: PlacedText): boolean {
  return isAnchor(place) && part.sort !== 'instructions' && part.sort !== 'later-instructions';
}

export function lostCalls(
  gaps: readonly CallGap[],
  inOrder: boolean,
  rendered: string,
  seen: SeenWriting,
): LostCall[] {
  if (!inOrder) return [];
  const writings = seen.at('call-argument', 'nested-argument');
  const lost: LostCall[] = [];
  for (const { message, start, end, calls, own } of gaps) {
    const within = own.map((one) => ({ start: one.start - start, end: one.end - start }));
    const gap = outside(rendered.slice(start, end), within);
    for (const call of calls) {
      const held = holdsArguments(call, gap, writings);
      if (held === true) continue;
      const isNamed = holdsName(gap, call.name);
      if (isNamed && held === undefined) continue;
      const { path, unread } = call;
      lost.push({ what: isNamed ? 'call-arguments' : 'call', path, unread, message });
    }
  }
  return lost;
}

/** Undefined where the arguments have nothing that could be told. */
function holdsArguments(
  { arguments: given }: CallPart,
  gap: string,
  writings: readonly FormWriting[],
): boolean | undefined {
  const texts = jsonTexts(given).filter((text) => text.trim().length >= leastTold);
  if (texts.length === 0) return undefined;
  return texts.some((text) => holdsBeginning(text, gap, writings));
}
