/** Where a call stands in a prompt as it was sent: its name, and behind it its arguments, whatever white space either has. */
import { isObject } from '../json/body-reader.ts';
import type { Json } from '../request/request.ts';
import { namePlace } from './name-place.ts';
import { standsAt } from './text-place.ts';

/** What a template writes in front of a call is shorter. */
const reach = 1024;

/** The end of its arguments; undefined where it is not there so, which says nothing of other ways of writing it. */
export function literalCallEnd(call: Json, rendered: string, from: number): number | undefined {
  const inner = isObject(call) ? call['function'] : undefined;
  if (!isObject(inner)) return undefined;
  const { name, arguments: given } = inner;
  if (typeof name !== 'string' || name === '' || typeof given !== 'string') return undefined;
  const named = namePlace(rendered, name, from, from + reach);
  if (named < 0) return undefined;
  const behind = named + name.length;
  const text = given.trim();
  const first = text.indexOf('"');
  const key = text.slice(first, text.indexOf('"', first + 1) + 1);
  if (first < 0 || key === '') return isEmpty(text) ? behind : undefined;
  const way = rendered.slice(behind, behind + reach).indexOf(key);
  return way < 0 ? undefined : literalEnd(text, first, rendered, behind + way);
}

/** @param first of the text's characters that is known to stand there; only `{` may stand in front of it */
function literalEnd(text: string, first: number, rendered: string, at: number): number | undefined {
  if (standsAt(rendered, text, at - first)) return at - first + text.length;
  let before = at - 1;
  while (isSpace(rendered.charCodeAt(before))) before -= 1;
  const isSame = text.slice(0, first).trim() === '{' && rendered[before] === '{';
  return isSame ? spacedEnd(text, first, rendered, at) : undefined;
}

function isEmpty(text: string): boolean {
  return text === '' || /^\{\s*\}$/.test(text);
}

/** Where JSON that begins at the place ends there, its white space left aside; undefined if another follows. */
export function spacedEnd(text: string, first: number, rendered: string, start: number): number | undefined {
  let at = start;
  for (let index = first; index < text.length; index += 1, at += 1) {
    while (isSpace(text.charCodeAt(index))) index += 1;
    while (isSpace(rendered.charCodeAt(at))) at += 1;
    if (index < text.length && text.charCodeAt(index) !== rendered.charCodeAt(at)) return undefined;
  }
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
