/**
 * Why something of a message is not in the prompt, where the request itself shows more than that it is not: whose doing it
 * is then, and what helps, is another.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { ChatRequest } from '../../exchange/request/request.ts';
import type { LostCall } from '../../exchange/written/lost-calls.ts';
import type { LostText } from '../../exchange/written/lost-texts.ts';
import type { Loss } from './loss-words.ts';

/** Undefined where nothing more is to be seen than that the text is lost. */
export function refinedTextLoss({ sort, path, message }: LostText, request: ChatRequest): Loss | undefined {
  if (request.dialect === 'anthropic' && path.at(-2) === 'source') return 'document';
  if (sort === 'instructions' && request.messages.every(({ role }) => role !== 'user')) {
    return 'instructions-alone';
  }
  return sort === 'answer' && joinsCalls(request, message) ? 'text-beside-calls' : undefined;
}

/** True for an item of the assistant's that comes in one message with calls of its own. */
function joinsCalls({ dialect, messages }: ChatRequest, index: number): boolean {
  if (dialect !== 'responses') return false;
  const isAssistant = (at: number): boolean => messages[at]?.role === 'assistant';
  let [start, end] = [index, index + 1];
  while (isAssistant(start - 1)) start -= 1;
  while (isAssistant(end)) end += 1;
  return messages.slice(start, end).some(({ value }) => value['type'] === 'function_call');
}

/** True for a call that is not the first of those that the assistant made together. */
export function isLaterCall({ messages }: ChatRequest, { path, message: index }: LostCall): boolean {
  const message = messages[index];
  if (message === undefined) return false;
  const within = path.slice(message.path.length);
  const [member, place] = within;
  if (member === 'tool_calls') return typeof place === 'number' && place > 0;
  const { content } = message.value;
  if (member === 'content' && typeof place === 'number' && isArray(content)) {
    return content.slice(0, place).some((part) => isObject(part) && part['type'] === 'tool_use');
  }
  return within.length === 0 && messages[index - 1]?.value['type'] === 'function_call';
}
