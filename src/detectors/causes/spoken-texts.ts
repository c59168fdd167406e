/**
 * The texts that somebody says to the model: of the user's messages and of instructions. What the model wrote itself,
 * what tools returned and what is no text is left out. Found once for all detectors.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { ChatRequest, Json, JsonPath } from '../../exchange/request/request.ts';
import { instructs } from '../../exchange/request/system-text.ts';
import type { ContentText } from './content-texts.ts';

const textTypes = new Set<unknown>([undefined, 'text', 'input_text']);

export interface SpokenText extends ContentText {
  readonly message: number;
  /** True if it is all that the request says: nothing else tells the model what to do with it. */
  readonly alone: boolean;
}

const spoken = new WeakMap<ChatRequest, readonly SpokenText[]>();

export function spokenTexts(request: ChatRequest): readonly SpokenText[] {
  const known = spoken.get(request);
  if (known !== undefined) return known;
  const texts = findTexts(request);
  spoken.set(request, texts);
  return texts;
}

/** In one list from the start: a conversation may have very many short texts. */
function findTexts({ messages }: ChatRequest): readonly SpokenText[] {
  const texts: SpokenText[] = [];
  let message = 0;
  for (const one of messages) {
    if (one.role === 'user' || instructs(one)) {
      const { contentPath: path, value } = one;
      const { content } = value;
      if (typeof content === 'string') texts.push({ text: content, path, message, alone: false });
      else if (isArray(content)) addListed(texts, content, path, message);
    }
    message += 1;
  }
  const [only] = texts;
  return messages.length === 1 && texts.length === 1 && only ? [{ ...only, alone: true }] : texts;
}

function addListed(texts: SpokenText[], content: readonly Json[], path: JsonPath, message: number): void {
  for (const [at, part] of content.entries()) {
    if (!isObject(part) || !textTypes.has(part['type'])) continue;
    const { text } = part;
    if (typeof text === 'string') texts.push({ text, path: [...path, at, 'text'], message, alone: false });
  }
}
