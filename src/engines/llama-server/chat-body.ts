/**
 * The body that `/apply-template` is asked with: a chat's own bytes, or what the engine itself makes of a body in another
 * dialect. That this is what the engine makes of it is checked by its own count on every reply.
 */
import { readBody } from '../../exchange/json/body-reader.ts';
import type { ChatRequest } from '../../exchange/request/request.ts';

import { exactJson } from '../exact-json.ts';
import { chatOfMessages } from './messages.ts';
import { chatOfResponses } from './responses.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';

/**
 * @param body the request's bytes, or those with their large media cut down
 * @param routedModel the model to name in router mode, where the conversion leaves it out
 * @throws OracleFailure for a body that the engine refuses
 */
export function chatBodyOf(
  request: ChatRequest,
  body: Buffer,
  routedModel: string | undefined,
): Buffer | string {
  if (request.dialect === 'openai') return body;
  const reading = body === request.body ? { readable: true as const, json: request.json } : readBody(body);
  if (!reading.readable) throw new OracleFailure('unreadable-body', '/apply-template');
  const exact = exactJson(body, reading.json);
  const chat =
    request.dialect === 'anthropic' ? chatOfMessages(exact.json, exact.dump) : chatOfResponses(exact.json);
  if (chat === undefined) throw new OracleFailure('unreadable-body', '/apply-template');
  return exact.write(routedModel === undefined ? chat : { ...chat, model: routedModel });
}
