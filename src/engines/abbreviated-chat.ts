/**
 * A chat with the middles of its long texts replaced by one word each, for an engine that renders and tokenizes in one
 * call. Structure, edges of texts, and texts in which a template might look for something stay as they are.
 */
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import type { Json, JsonObject } from '../exchange/request/request.ts';

export interface AbbreviatedChat {
  readonly chat: JsonObject;
  /** What stands for the replaced middles, in their order. */
  readonly words: readonly string[];
}

/** Shorter ones cost the engine less than they cost us. */
const shortest = 120;
/** Templates trim texts, and look at how they begin and end. */
const edge = 6;
/** Templates take texts apart at closing tags and control tokens, whether or not the vocabulary has them. */
const takenApart = ['</', '<|', '[/'];

/** @param wordFor letters that stand for this text and no other; undefined to leave it as it is */
export function abbreviateChat(
  chat: JsonObject,
  wordFor: (text: string) => string | undefined,
): AbbreviatedChat {
  const words: string[] = [];
  const short = (text: string): string => {
    const word = wordFor(text);
    if (word === undefined) return text;
    words.push(word);
    return `${text.slice(0, edgeBefore(text, edge))} ${word} ${text.slice(edgeBefore(text, text.length - edge))}`;
  };
  const { messages } = chat;
  if (!isArray(messages)) return { chat, words };
  return { chat: { ...chat, messages: messages.map((message) => withTexts(message, short)) }, words };
}

function withTexts(message: Json, short: (text: string) => string): Json {
  if (!isObject(message)) return message;
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: short(content) };
  // Several parts would share a segment.
  const [part] = isArray(content) && content.length === 1 ? content : [];
  if (!isObject(part) || typeof part['text'] !== 'string') return message;
  return { ...message, content: [{ ...part, text: short(part['text']) }] };
}

/**
 * @param markers their texts: each begins a segment, and an abbreviated text must not take any away
 * @returns whether a text may be abbreviated
 */
export function abbreviableWithout(markers: readonly string[]): (text: string) => boolean {
  const parts = [...takenApart, ...markers];
  // Most texts hold none of the few characters that these begin with: two searches instead of one for each of them.
  const openings = [...new Set(parts.map((part) => part.slice(0, 1)))];
  return (text) => {
    if (text.length < shortest || markers.length === 0) return false;
    const stands = (part: string): boolean => text.includes(part);
    return !openings.some(stands) || !parts.some(stands);
  };
}

/** Not between the halves of a surrogate pair. */
function edgeBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc_00 && unit <= 0xdf_ff ? at - 1 : at;
}
