/**
 * The body that `/tokenize` is asked with for a chat: the client's own bytes, in which it reads the fields that it knows.
 * It knows fewer than the chat route (measured on 0.32.0), so what those set for the template is added as the template's
 * own arguments.
 */
import { isObject } from '../exchange/body-reader.ts';
import { applyEdits } from '../exchange/edits.ts';
import { locateValue } from '../exchange/json-offsets.ts';
import type { ChatRequest } from '../exchange/request.ts';

/** Fields of the chat route that reach the template under their own name. */
const templateFields = ['documents', 'reasoning_effort'] as const;

export function tokenizeBodyOf({ json, body }: ChatRequest): Buffer {
  const added: string[] = [];
  for (const field of templateFields) {
    const value = json[field] ?? null;
    if (value !== null) added.push(`"${field}":${rawValue(body, field)}`);
  }
  const effort = json['reasoning_effort'];
  if (typeof effort === 'string') added.push(`"enable_thinking":${effort === 'none' ? 'false' : 'true'}`);
  if (added.length === 0) return body;
  // Of duplicate keys the last one counts: the client's own arguments win, and the new object over the old one.
  const own = isObject(json['chat_template_kwargs'])
    ? rawValue(body, 'chat_template_kwargs').slice(1, -1).trim()
    : '';
  const members = own === '' ? added : [...added, own];
  const end = body.lastIndexOf('}');
  const replacement = `,"chat_template_kwargs":{${members.join(',')}}`;
  return applyEdits(body, [{ start: end, end, replacement }]);
}

/** As the client wrote it: parsing would change how numbers are written, and templates print them. */
function rawValue(body: Buffer, field: string): string {
  const range = locateValue(body, [field]);
  return range === undefined ? 'null' : body.toString('utf8', range.start, range.end);
}
