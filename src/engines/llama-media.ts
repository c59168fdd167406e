/**
 * A chat body for `/apply-template` with its large media cut down. The template sees only that there is a medium, so a
 * tiny one in its place renders the same text (engine-protocols, section 2.4), and megabytes need not travel twice.
 */
import { applyEdits, type Edit } from '../exchange/edits.ts';
import type { ChatRequest, Json } from '../exchange/request.ts';

/** Smaller media are sent as they are. */
const largeMedium = 64 * 1024;
const stand = 'AA==';

export function withoutLargeMedia({ body, messages, hasMedia }: ChatRequest): Buffer {
  if (!hasMedia || body.length < largeMedium) return body;
  const edits: Edit[] = [];
  let from = 0;
  for (const text of messages.flatMap(({ value }) => largeTexts(value, 0))) {
    const data = text.indexOf(';base64,') + ';base64,'.length;
    if (!text.startsWith('data:') || data > 100) continue;
    // Found by its first bytes and measured: base64 holds nothing that JSON would have to escape, but `/` may be.
    const start = body.indexOf(text.slice(0, 200), from, 'latin1');
    if (start < 0 || body.indexOf('"', start, 'latin1') !== start + text.length) continue;
    edits.push({ start: start + data, end: start + text.length, replacement: stand });
    from = start + text.length;
  }
  return edits.length === 0 ? body : applyEdits(body, edits);
}

/** Long strings in a message, in the order in which they were written. */
function largeTexts(value: Json, depth: number): string[] {
  if (typeof value === 'string') return value.length >= largeMedium ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > 8) return [];
  return Object.values(value).flatMap((item: Json) => largeTexts(item, depth + 1));
}
