/**
 * The conversation of an Anthropic `/v1/messages` body. Reads what every engine of that route reads; what one of them
 * makes of it is its adapter's to know.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import type { ChatMessage, Json, JsonObject } from './request.ts';

/**
 * Instructions first, a part of them per text block; undefined for a body without readable messages. Messages that are no
 * list are none to llama-server, which answers all the same.
 */
export function readMessagesConversation(json: JsonObject): ChatMessage[] | undefined {
  const given = json['messages'];
  if (given === undefined) return undefined;
  const messages = readSystem(json['system']);
  for (const [index, value] of isArray(given) ? given.entries() : []) {
    if (!isObject(value) || typeof value['role'] !== 'string') return undefined;
    const path = ['messages', index];
    messages.push({
      role: roleOf(value['role'], value['content']),
      value,
      path,
      contentPath: [...path, 'content'],
    });
  }
  return messages;
}

function readSystem(system: Json | undefined): ChatMessage[] {
  if (typeof system === 'string') return [instruction(system, ['system'])];
  if (!isArray(system)) return [];
  return system.flatMap((block, index) =>
    isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
      ? [instruction(block['text'], ['system', index, 'text'])]
      : [],
  );
}

function instruction(content: string, path: ChatMessage['path']): ChatMessage {
  return { role: 'system', value: { role: 'system', content }, path, contentPath: path };
}

/** Results of tools come as the user's message. */
function roleOf(role: string, content: Json | undefined): string {
  if (role !== 'user' || !isArray(content) || content.length === 0) return role;
  return content.every((block) => isObject(block) && block['type'] === 'tool_result') ? 'tool' : role;
}
