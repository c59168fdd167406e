/**
 * The body that `/tokenize` is asked with for a chat: the client's own bytes, in which it reads the fields that it knows,
 * or what the engine itself makes of a body in another dialect. That this is what the engine makes of it is checked by its
 * own count on every reply.
 */
import { isObject } from '../../exchange/json/body-reader.ts';
import { applyEdits } from '../../exchange/edits.ts';
import { locateValue } from '../../exchange/json/json-offsets.ts';
import type { ChatRequest } from '../../exchange/request/request.ts';

import { exactJson } from '../exact-json.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';
import { chatOfMessages, type MessagesTraits } from './messages.ts';
import { chatOfResponses } from './responses.ts';

/**
 * @param traits asked for only where a body of `/v1/messages` needs them
 * @throws OracleFailure for a body that the engine refuses, or that is not followed
 */
export async function tokenizeBodyOf(
  request: ChatRequest,
  traits: () => Promise<MessagesTraits>,
): Promise<Buffer | string> {
  if (request.dialect === 'openai') return withTemplateFields(request);
  const exact = exactJson(request.body, request.json);
  const chat =
    request.dialect === 'anthropic'
      ? chatOfMessages(exact.json, await traits(), exact.write)
      : chatOfResponses(exact.json);
  if (chat === undefined) throw new OracleFailure('engine-cannot', '/tokenize');
  return exact.write(chat);
}

/** `/tokenize` knows fewer fields than the chat route: what those set for the template is added as its arguments. */
function withTemplateFields({ json, body }: ChatRequest): Buffer {
  const effort = json['reasoning_effort'] ?? null;
  // Of duplicate keys the last one counts. A field of the route wins over the client's own arguments, but what an effort
  // means for thinking does not.
  const before = effort === null ? [] : [`"enable_thinking":${effort === 'none' ? 'false' : 'true'}`];
  const after = ['documents', 'reasoning_effort'].flatMap((field) => {
    const value = json[field] ?? null;
    return value === null || value === 'auto' ? [] : [`"${field}":${rawValue(body, field)}`];
  });
  if (before.length + after.length === 0) return body;
  const own = isObject(json['chat_template_kwargs'])
    ? rawValue(body, 'chat_template_kwargs').slice(1, -1).trim()
    : '';
  const members = [...before, ...(own === '' ? [] : [own]), ...after];
  const end = body.lastIndexOf('}');
  const replacement = `,"chat_template_kwargs":{${members.join(',')}}`;
  return applyEdits(body, [{ start: end, end, replacement }]);
}

/** As the client wrote it: parsing would change how numbers are written, and templates print them. */
function rawValue(body: Buffer, field: string): string {
  const range = locateValue(body, [field]);
  return range === undefined ? 'null' : body.toString('utf8', range.start, range.end);
}
