/** The text that a chat request gives as instructions, in one string. Reads the request; renders and trims nothing. */
import { isArray, isObject } from './body-reader.ts';
import type { ChatMessage, ChatRequest, Json } from './request.ts';

/** True for roles that instruct and don't take a turn in the conversation. */
export function instructs(message: ChatMessage): boolean {
  return message.role === 'system' || message.role === 'developer';
}

/** The texts of all instructing messages, in order, joined by newlines; undefined if there are none. */
export function systemText(request: ChatRequest): string | undefined {
  const texts = request.messages.filter(instructs).map(({ value }) => contentText(value['content']));
  return texts.length > 0 ? texts.join('\n') : undefined;
}

/** A message's content as text: a string as it is, the text parts of a list joined by newlines, else ''. */
export function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!isArray(content)) return '';
  return content
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .filter((text) => text !== '')
    .join('\n');
}
