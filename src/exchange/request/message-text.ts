/** How much text a chat carries: known before the conversation is handed from thread to thread. */
import { isArray, isObject } from '../json/body-reader.ts';
import type { Json, JsonObject } from './request.ts';

/**
 * More characters than any context takes, at one token for many of them. Such a chat can only be refused by the
 * engine, and reading it would hold everything else up.
 */
export const mostMessageText = 8 * 1024 * 1024;

/** Where a conversation stands in each of the dialects. */
const conversationFields = ['messages', 'system', 'input', 'instructions'];

/** True if the conversation's texts together are longer than that. Media don't count: they are no text. */
export function holdsTooMuchText(json: JsonObject): boolean {
  const waiting: Json[] = conversationFields.map((field) => json[field] ?? null);
  let characters = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string') {
      if (!value.startsWith('data:')) characters += value.length;
      if (characters > mostMessageText) return true;
    } else if (isArray(value)) {
      for (const item of value) waiting.push(item);
    } else if (isObject(value) && value['type'] !== 'base64') {
      for (const item of Object.values(value)) waiting.push(item);
    }
  }
  return false;
}
