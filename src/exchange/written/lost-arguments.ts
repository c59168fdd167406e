/**
 * Which of the calls that stand in one piece of a prompt are not there, whole or in part. Where all of them follow one
 * another in their order that is one way through the piece; only where they do not is counted how often each text of theirs
 * stands there, so that one call is not taken for another with the same arguments.
 */
import type { FormWriting } from './form-writing.ts';
import { CountedCalls, findTold, type LostAmong } from './counted-calls.ts';
import { namePlace } from './name-place.ts';
import type { ReadingBudget } from './reading-budget.ts';
import type { CallPart } from './call-parts.ts';
import { toldCall, type ToldCall } from './told-calls.ts';
import type { Found } from './written-forms.ts';

const nothing: readonly LostAmong[] = [];

/**
 * @param covered texts of messages that may stand there for those of the calls
 * @param writings how the template was seen to write arguments
 * @param budget where it is spent, what was not found by then counts as there
 */
export function lostAmong(
  calls: readonly CallPart[],
  covered: readonly string[],
  text: string,
  writings: readonly FormWriting[],
  budget: ReadingBudget,
): readonly LostAmong[] {
  if (followOneAnother(calls, covered, text, writings)) return nothing;
  const told = calls.flatMap((call) => toldCall(call, covered) ?? []);
  return new CountedCalls(told, text, writings, budget).lost();
}

/** How far behind the call before it a call is looked for first. */
const reach = 4096;
/** Shorter arguments may say nothing, as `{}` does. */
const leastSent = 12;

/** True if each call has a place of its own behind the call before it. */
function followOneAnother(
  calls: readonly CallPart[],
  covered: readonly string[],
  text: string,
  writings: readonly FormWriting[],
): boolean {
  let from = 0;
  for (const call of calls) {
    const end = endAsSent(call, text, from) ?? endOf(toldCall(call, covered), text, from, writings);
    if (end === undefined) return false;
    from = end;
  }
  return true;
}

function endAsSent({ sent = '' }: CallPart, text: string, from: number): number | undefined {
  if (sent.length < leastSent) return undefined;
  const at = text.slice(from, from + sent.length + reach).indexOf(sent);
  return at < 0 ? undefined : from + at + sent.length;
}

/** Where the call's texts end that stand behind the place; undefined if one of them does not. */
function endOf(
  told: ToldCall | undefined,
  text: string,
  from: number,
  writings: readonly FormWriting[],
): number | undefined {
  if (told === undefined) return from;
  const { call, texts } = told;
  if (texts.length === 0) {
    const place = namePlace(text, call.name, from);
    return place < 0 ? undefined : place + call.name.length;
  }
  const keepsPlain = writings.every((form) => form.keepsPlain);
  let end = from;
  for (const { text: sought, tail } of texts) {
    const found = findFrom(sought, text, from, writings);
    if (found === undefined) return undefined;
    end = Math.max(end, found.end);
    if (tail === undefined || !keepsPlain) continue;
    const last = text.indexOf(tail, found.start);
    if (last < 0) return undefined;
    end = Math.max(end, last + tail.length);
  }
  return end;
}

function findFrom(
  sought: string,
  text: string,
  from: number,
  writings: readonly FormWriting[],
): Found | undefined {
  const near = findTold(sought, text.slice(from, from + sought.length + reach), writings);
  const found = near ?? findTold(sought, text.slice(from), writings);
  return found && { start: found.start + from, end: found.end + from };
}
