/** What of a call tells it from others: the values of its arguments, else their keys; each as it is looked for in a prompt. */
import { isArray, isObject } from '../json/body-reader.ts';
import type { Json } from '../request/request.ts';
import type { CallPart } from './call-parts.ts';
import { beginningOf, lastPlainRun, leastTold } from './written-forms.ts';

/** Text of the arguments that is worth a look. */
export interface ToldText {
  readonly given: string;
  /** As much of it as tells it from others. */
  readonly text: string;
  /** What stands near the end of a longer one in each of its forms; absent where there is no such run. */
  readonly tail?: string;
}

export interface ToldCall {
  readonly call: CallPart;
  /** [] for arguments that have nothing that could be told. */
  readonly texts: readonly ToldText[];
  /** True if no value tells it, so that its keys have to. */
  readonly byKeys: boolean;
}

const none: readonly ToldText[] = [];

/**
 * @param covered texts of messages that may stand for those of the call
 * @returns undefined if nothing is left that tells it from them
 */
export function toldCall(call: CallPart, covered: readonly string[]): ToldCall | undefined {
  const { values, keys } = leavesOf(call.arguments);
  const byKeys = values.length === 0;
  const told = byKeys ? keys : values;
  if (told.length === 0) return { call, texts: none, byKeys };
  const texts = told.map(toldText);
  if (covered.length === 0) return { call, texts, byKeys };
  const others = texts.filter(({ text }) => !covered.some((one) => one.includes(text)));
  return others.length === 0 ? undefined : { call, texts: others, byKeys };
}

/** How far before its end a text's last run is looked for. */
const tailReach = 240;

function toldText(given: string): ToldText {
  const text = beginningOf(given);
  const tail = given.length > tailReach ? lastPlainRun(given.slice(-tailReach)) : undefined;
  return { given, text, ...(tail !== undefined && { tail }) };
}

/** Larger ones, and those with a fraction, are written in more than one way. */
const mostDigits = 1_000_000;

/** Two characters of Chinese say as much as a word, and no markup has them. */
function tells(text: string): boolean {
  return text.length >= leastTold || (text.length === 2 && /^[^\0-\x7f]+$/.test(text));
}

/** Numbers of a digit or two, flags and short texts stand in the markup by chance. */
function leavesOf(given: Json): { readonly values: readonly string[]; readonly keys: readonly string[] } {
  const values: string[] = [];
  const keys: string[] = [];
  const open: Json[] = [given];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one === 'string') {
      if (tells(one.trim())) values.push(one);
    } else if (typeof one === 'number') {
      const digits = String(one);
      if (Number.isInteger(one) && Math.abs(one) < mostDigits && digits.length >= leastTold)
        values.push(digits);
    } else if (isArray(one)) {
      for (let index = one.length - 1; index >= 0; index -= 1) open.push(one[index] ?? null);
    } else if (isObject(one)) {
      for (const [key, member] of Object.entries<Json>(one)) {
        open.push(member);
        if (tells(key.trim())) keys.push(key);
      }
    }
  }
  return { values, keys };
}

/**
 * True for a text that stands, or would, inside the arguments of one of the calls as they are written: where it was found
 * is then not known to be its own place.
 */
export function standsInCalls(text: string, calls: readonly CallPart[]): boolean {
  const given = text.trim();
  const isJson = given.startsWith('{') || given.startsWith('[');
  return calls.some(({ arguments: value, sent }) => {
    // Without white space no text in it is longer, nor is the whole.
    if (sent !== undefined && sent.length * mostSpaced < given.length) return false;
    return holdsText(value, given) || (isJson && solid(JSON.stringify(value)).includes(solid(given)));
  });
}

/** No writer of JSON makes more of it by white space. */
const mostSpaced = 2;

function solid(text: string): string {
  return text.replaceAll(/\s/g, '');
}

function holdsText(value: Json, text: string): boolean {
  const open: Json[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one === 'string') {
      if (one.length >= text.length && one.includes(text)) return true;
    } else if (isArray(one)) for (const item of one) open.push(item);
    else if (isObject(one)) for (const member of Object.values<Json>(one)) open.push(member);
  }
  return false;
}
