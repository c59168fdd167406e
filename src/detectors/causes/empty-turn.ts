/** Turns of the assistant that say nothing, and those that are text alone. */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { ChatMessage, Json } from '../../exchange/request/request.ts';
import { contentText } from '../../exchange/request/system-text.ts';

export function isEmptyTurn(message: ChatMessage): boolean {
  return message.role === 'assistant' && isTextAlone(message) && contentText(message.value['content']) === '';
}

/** Calls, thinking and media are no text to go on with; a message that holds them is no empty one either. */
export function isTextAlone({ value }: ChatMessage): boolean {
  const { content } = value;
  const parts = isArray(content) ? content : [];
  const isText = (part: Json): boolean => isObject(part) && typeof part['text'] === 'string';
  return (
    value['type'] === undefined && parts.every(isText) && besides.every((field) => isBlank(value[field]))
  );
}

/** Fields that make something of a message that has no content. */
const besides = [
  'audio',
  'function_call',
  'reasoning',
  'reasoning_content',
  'refusal',
  'tool_calls',
] as const;

function isBlank(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (isArray(value) && value.length === 0);
}
