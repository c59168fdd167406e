/**
 * The beginning of a text of the body, for whoever looks at no more. A long one was handed over from another thread in
 * fragments, and to look at its first character joins them all: 100 ms for 60 MiB, in one turn of the event loop. Its
 * bytes are there in one piece.
 */
import { readStringStart } from './json/json-offsets.ts';
import type { JsonPath } from './request/request.ts';

/** Shorter texts came in one fragment. */
const longText = 4_194_304;
const startBytes = 65_536;

/** @returns the text itself if it is short, else what its first bytes say */
export function textStart(body: Buffer, path: JsonPath, text: string): string {
  if (text.length < longText) return text;
  return readStringStart(body, path, startBytes) ?? text;
}
