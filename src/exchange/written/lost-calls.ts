/** Which calls that the conversation holds are not in its prompt, each looked for between the texts around it. */
import type { FormWriting, SeenWriting } from './form-writing.ts';
import { holdsName } from './name-place.ts';
import { isAnchor, outside, type PlacedTexts } from './placed-texts.ts';
import { jsonTexts, type CallPart, type MessageParts } from './prompt-parts.ts';
import type { JsonPath } from '../request/request.ts';
import { holdsBeginning, leastTold, type Found } from './written-forms.ts';

export interface LostCall {
  readonly what: 'call' | 'call-arguments';
  readonly path: JsonPath;
  readonly unread: boolean;
}

/** Where the calls of a message stand: from the texts of the messages before to those of the messages after. */
export interface CallGap extends Found {
  readonly calls: readonly CallPart[];
  /** The places of the message's own texts in it. */
  readonly own: readonly Found[];
}

export function callGaps(
  messages: readonly MessageParts[],
  { texts }: PlacedTexts,
  rendered: string,
): CallGap[] {
  // A short result, such as "1", may have been found inside the call that it is of, and would cut it off.
  const inTurns = texts.filter(
    ({ part, place }) =>
      isAnchor(place) && part.sort !== 'instructions' && part.sort !== 'later-instructions',
  );
  let at = 0;
  let start = 0;
  return messages.flatMap(({ calls }, index): CallGap[] => {
    for (let one = inTurns[at]; one !== undefined && one.message < index; one = inTurns[at]) {
      start = Math.max(start, one.place?.end ?? 0);
      at += 1;
    }
    if (calls.length === 0) return [];
    let after = at;
    while (inTurns[after]?.message === index) after += 1;
    const own = inTurns.slice(at, after).flatMap(({ place }) => place ?? []);
    return [{ start, end: Math.max(start, inTurns[after]?.place?.start ?? rendered.length), calls, own }];
  });
}

export function lostCalls(
  gaps: readonly CallGap[],
  inOrder: boolean,
  rendered: string,
  seen: SeenWriting,
): LostCall[] {
  if (!inOrder) return [];
  const writings = seen.at('call-argument', 'nested-argument');
  return gaps.flatMap(({ start, end, calls, own }) => {
    const within = own.map((one) => ({ start: one.start - start, end: one.end - start }));
    const gap = outside(rendered.slice(start, end), within);
    return calls.flatMap((call): LostCall[] => {
      const held = holdsArguments(call, gap, writings);
      if (held === true) return [];
      const isNamed = holdsName(gap, call.name);
      if (isNamed && held === undefined) return [];
      const { path, unread } = call;
      return [{ what: isNamed ? 'call-arguments' : 'call', path, unread }];
    });
  });
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
