/**
 * The texts that somebody says to the model: of the user's messages and of instructions. What the model wrote itself,
 * what tools returned and what is no text is left out.
 */
import { isArray, isObject } from '../../exchange/body-reader.ts';
import type { ChatRequest } from '../../exchange/request.ts';
import { instructs } from '../../exchange/system-text.ts';
import type { ContentText } from './content-texts.ts';

const textTypes = new Set<unknown>([undefined, 'text', 'input_text']);

export interface SpokenText extends ContentText {
  readonly message: number;
  /** True if it is all that the request says: nothing else tells the model what to do with it. */
  readonly alone: boolean;
}

export function spokenTexts({ messages }: ChatRequest): SpokenText[] {
  const texts = messages.flatMap((message, index): Omit<SpokenText, 'alone'>[] => {
    if (message.role !== 'user' && !instructs(message)) return [];
    const content = message.value['content'];
    if (typeof content === 'string') return [{ text: content, path: message.contentPath, message: index }];
    if (!isArray(content)) return [];
    return content.flatMap((part, at) => {
      if (!isObject(part) || !textTypes.has(part['type'])) return [];
      const { text } = part;
      if (typeof text !== 'string') return [];
      return [{ text, path: [...message.contentPath, at, 'text'], message: index }];
    });
  });
  const alone = messages.length === 1 && texts.length === 1;
  return texts.map((text) => ({ ...text, alone }));
}
