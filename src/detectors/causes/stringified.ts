/** What of a text shows that a conversation, or a part of one, was turned into text on its way to the engine. */
import { beginsWithObjects, isObjects } from './object-text.ts';
import { carriesMessage, carriesPreface, carriesPrompt, type WordRange } from './role-words.ts';

export interface Stringified extends WordRange {
  readonly cause: 'role-words' | 'messages-as-text' | 'parts-as-text' | 'object-as-text';
  /** The first of the role words, as they are written; absent for objects. */
  readonly words?: readonly string[];
  /** True for a prompt that somebody copied as it is published: an instruct model reads it well enough. */
  readonly isCopied?: boolean;
}

const objectCauses = {
  messages: 'messages-as-text',
  parts: 'parts-as-text',
  unnamed: 'object-as-text',
} as const;

/** @param text a plain one: with markers of the model's own in it, it is a template's */
export function stringifiedPlain(text: string): Stringified | undefined {
  const objects = beginsWithObjects(text);
  if (objects !== undefined) return { cause: objectCauses[objects], start: 0, end: text.length };
  const words = carriesPrompt(text);
  return words && { cause: 'role-words', ...words };
}

/**
 * Beside other messages, messages as text may be what is talked about, and lines may be quoted. Parts as text are never
 * meant where Python wrote them down, nor where a whole message is nothing else; nor is an object without a text.
 * @param alone nothing else in the request says what to do with the text
 */
export function stringifiedMessage(text: string, alone: boolean): Stringified | undefined {
  const written = isObjects(text);
  if (written !== undefined && (alone || written.objects !== 'messages')) {
    return { cause: objectCauses[written.objects], start: 0, end: text.length };
  }
  if (!alone) return undefined;
  const words = carriesMessage(text);
  if (words !== undefined) return { cause: 'role-words', ...words };
  const copied = carriesPreface(text);
  return copied && { cause: 'role-words', ...copied, isCopied: true };
}
