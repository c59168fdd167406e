/**
 * A chat body for `/apply-template` with its large media cut down. The template sees only that there is a medium, so a
 * tiny one in its place renders the same text (engine-protocols, section 2.4), and megabytes need not travel twice.
 */
import { isObject } from '../exchange/body-reader.ts';
import { applyEdits, type Edit } from '../exchange/edits.ts';
import type { ChatRequest, Json } from '../exchange/request.ts';

/** Smaller media are sent as they are. */
const largeMedium = 64 * 1024;
const stand = 'AA==';

export function withoutLargeMedia({ body, messages, hasMedia }: ChatRequest): Buffer {
  if (!hasMedia || body.length < largeMedium) return body;
  const edits: Edit[] = [];
  let from = 0;
  for (const { text, data } of messages.flatMap(({ value }) => largeMedia(value, 0))) {
    // Found by its first bytes and measured: base64 holds nothing that JSON would have to escape, but `/` may be.
    const start = body.indexOf(text.slice(0, 200), from, 'latin1');
    if (start < 0 || body.indexOf('"', start, 'latin1') !== start + text.length) continue;
    edits.push({ start: start + data, end: start + text.length, replacement: stand });
    from = start + text.length;
  }
  return edits.length === 0 ? body : applyEdits(body, edits);
}

interface Medium {
  readonly text: string;
  /** Index in the text at which the data begins. */
  readonly data: number;
}

/** Data URLs and base64 sources in a message, in the order in which they were written. */
function largeMedia(value: Json, depth: number): Medium[] {
  if (typeof value === 'string') {
    if (value.length < largeMedium || !value.startsWith('data:')) return [];
    const data = value.indexOf(';base64,') + ';base64,'.length;
    return data <= 100 && data >= ';base64,'.length ? [{ text: value, data }] : [];
  }
  if (typeof value !== 'object' || value === null || depth > 8) return [];
  if (isObject(value) && value['type'] === 'base64' && typeof value['data'] === 'string') {
    return value['data'].length < largeMedium ? [] : [{ text: value['data'], data: 0 }];
  }
  return Object.values(value).flatMap((item: Json) => largeMedia(item, depth + 1));
}
