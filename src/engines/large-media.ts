/**
 * A chat body with its large media cut down. A template sees only that there is a medium, so a tiny one in its place
 * renders the same text (engine-protocols, section 2.4), and megabytes need not travel twice.
 */
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import { applyEdits, type Edit } from '../exchange/edits.ts';
import type { ChatRequest, Json, JsonPath } from '../exchange/request/request.ts';
import { textStart } from '../exchange/text-start.ts';

/** Smaller media are sent as they are. */
const largeMedium = 64 * 1024;
const stand = 'AA==';
const mostDepth = 10;

export function withoutLargeMedia({ body, messages, hasMedia }: ChatRequest): Buffer {
  if (!hasMedia || body.length < largeMedium) return body;
  const media = messages.flatMap(({ value, path, contentPath }) =>
    Object.entries(value).flatMap(([key, member]) =>
      largeMedia(member, key === 'content' ? contentPath : [...path, key], body),
    ),
  );
  const edits: Edit[] = [];
  let from = 0;
  for (const { start, length, data } of media) {
    // Found by its first bytes and measured: base64 holds nothing that JSON would have to escape, but `/` may be.
    const at = body.indexOf(start.slice(0, 200), from, 'latin1');
    if (at < 0 || body.indexOf('"', at, 'latin1') !== at + length) continue;
    edits.push({ start: at + data, end: at + length, replacement: stand });
    from = at + length;
  }
  return edits.length === 0 ? body : applyEdits(body, edits);
}

interface Medium {
  readonly start: string;
  readonly length: number;
  /** Index in the text at which the data begins. */
  readonly data: number;
}

/** Data URLs and base64 sources in a member of a message, in the order in which they were written. */
function largeMedia(value: Json, path: JsonPath, body: Buffer): Medium[] {
  if (typeof value === 'string') {
    if (value.length < largeMedium) return [];
    const start = textStart(body, path, value);
    const data = start.indexOf(';base64,') + ';base64,'.length;
    const isUrl = start.startsWith('data:') && data <= 100 && data >= ';base64,'.length;
    return isUrl ? [{ start, length: value.length, data }] : [];
  }
  if (typeof value !== 'object' || value === null || path.length > mostDepth) return [];
  if (isObject(value) && value['type'] === 'base64' && typeof value['data'] === 'string') {
    const { length } = value['data'];
    return length < largeMedium
      ? []
      : [{ start: textStart(body, [...path, 'data'], value['data']), length, data: 0 }];
  }
  const members = isArray(value) ? [...value.entries()] : Object.entries(value);
  return members.flatMap(([step, item]) => largeMedia(item, [...path, step], body));
}
