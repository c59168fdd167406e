/**
 * The body that `/tokenize` is asked with for a chat: the client's own bytes, in which it reads the fields that it knows,
 * or what the engine itself makes of a body in another dialect. That this is what the engine makes of it is checked by its
 * own count on every reply.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import { applyEdits, type Edit } from '../../exchange/edits.ts';
import { locateStrings, locateValue } from '../../exchange/json/json-offsets.ts';
import type { ChatRequest, JsonObject, JsonPath } from '../../exchange/request/request.ts';

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

/**
 * `/tokenize` knows fewer fields than the chat route: what those set for the template is added as its arguments, and
 * reasoning by its former name is given by the one that it knows.
 */
function withTemplateFields({ json, body }: ChatRequest): Buffer {
  const edits = [...renamedReasoning(json, body), ...templateArguments(json, body)];
  return edits.length === 0 ? body : applyEdits(body, edits);
}

/** The chat route renames the member before anything looks at it (chat_completion/protocol.py, read at 0.32.0). */
function renamedReasoning(json: JsonObject, body: Buffer): Edit[] {
  const messages = isArray(json['messages']) ? json['messages'] : [];
  const paths: JsonPath[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || typeof message['reasoning_content'] !== 'string') continue;
    // A null that stands behind what is added here would win over it.
    if (message['reasoning'] === undefined) paths.push(['messages', index, 'reasoning_content']);
  }
  return locateStrings(body, paths).flatMap((range): Edit[] => {
    if (range === undefined) return [];
    const at = range.end + 1;
    const replacement = `,"reasoning":${body.toString('utf8', range.start - 1, at)}`;
    return [{ start: at, end: at, replacement }];
  });
}

function templateArguments(json: JsonObject, body: Buffer): Edit[] {
  const effort = json['reasoning_effort'] ?? null;
  // Of duplicate keys the last one counts. A field of the route wins over the client's own arguments, but what an effort
  // means for thinking does not.
  const before = effort === null ? [] : [`"enable_thinking":${effort === 'none' ? 'false' : 'true'}`];
  const after = ['documents', 'reasoning_effort'].flatMap((field) => {
    const value = json[field] ?? null;
    return value === null || value === 'auto' ? [] : [`"${field}":${rawValue(body, field)}`];
  });
  if (before.length + after.length === 0) return [];
  const own = isObject(json['chat_template_kwargs'])
    ? rawValue(body, 'chat_template_kwargs').slice(1, -1).trim()
    : '';
  const members = [...before, ...(own === '' ? [] : [own]), ...after];
  const end = body.lastIndexOf('}');
  const replacement = `,"chat_template_kwargs":{${members.join(',')}}`;
  return [{ start: end, end, replacement }];
}

/** As the client wrote it: parsing would change how numbers are written, and templates print them. */
function rawValue(body: Buffer, field: string): string {
  const range = locateValue(body, [field]);
  return range === undefined ? 'null' : body.toString('utf8', range.start, range.end);
}
