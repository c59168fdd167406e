/**
 * The conversation of an OpenAI `/v1/responses` body. Reads what every engine of that route reads; what one of them
 * makes of it is its adapter's to know.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import type { ChatMessage, Json, JsonObject, JsonPath } from './request.ts';

/** Instructions first, then one message per item; undefined for a body without readable input. */
export function readResponsesConversation(json: JsonObject): ChatMessage[] | undefined {
  const { input, instructions } = json;
  const messages = typeof instructions === 'string' ? [text('system', instructions, ['instructions'])] : [];
  if (typeof input === 'string') return [...messages, text('user', input, ['input'])];
  if (!isArray(input)) return undefined;
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) return undefined;
    messages.push(readItem(item, ['input', index]));
  }
  return messages;
}

function text(role: string, content: string, path: JsonPath): ChatMessage {
  return { role, value: { role, content }, path, contentPath: path };
}

/** What a server gave its items for itself; clients keep it, drop it or change it, and it reaches no prompt. */
const unrendered = new Set(['encrypted_content', 'id', 'status']);

function readItem(item: JsonObject, path: JsonPath): ChatMessage {
  const members = Object.entries(item).filter(([name]) => !unrendered.has(name));
  const { type, output, ...rest } = Object.fromEntries<Json>(members);
  const said = typeof item['role'] === 'string' ? item['role'] : undefined;
  const isResult = typeof type === 'string' && type.endsWith('_output');
  // All that has no role of its own (calls, reasoning) is the assistant's, but for what tools gave back.
  const role = said ?? (isResult ? 'tool' : 'assistant');
  const value: JsonObject = {
    ...rest,
    ...(type === undefined || type === 'message' ? {} : { type }),
    ...(output === undefined ? {} : isResult ? { content: output } : { output }),
    role,
  };
  return { role, value, path, contentPath: [...path, isResult ? 'output' : 'content'] };
}
