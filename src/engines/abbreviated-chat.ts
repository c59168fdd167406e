/**
 * A chat with the middles of its long texts replaced by one word each, for an engine that renders and tokenizes in one
 * call. Structure, edges of texts, and texts in which a template might look for something stay as they are.
 */
import { isArray, isObject } from '../exchange/body-reader.ts';
import type { Json, JsonObject } from '../exchange/request.ts';
import type { MarkerPattern } from '../tokens/markers.ts';

export interface AbbreviatedChat {
  readonly chat: JsonObject;
  /** What stands for the replaced middles, in their order. */
  readonly words: readonly string[];
}

export interface AbbreviationRules {
  readonly markers: MarkerPattern;
  /** Some letters that stand for this text and no other. */
  readonly wordFor: (text: string) => string;
  /** Which of the texts that could be replaced are. */
  readonly replaces: (word: string) => boolean;
}

/** Shorter ones cost the engine less than they cost us. */
const shortest = 120;
/** Templates trim texts, and look at how they begin and end. */
const edge = 12;
/** Templates take texts apart at closing tags and control tokens, whether or not the vocabulary has them. */
const takenApart = /<\/|<\||\[\//;

export function abbreviateChat(chat: JsonObject, rules: AbbreviationRules): AbbreviatedChat {
  const words: string[] = [];
  const short = (text: string): string => {
    if (!isAbbreviable(text, rules.markers)) return text;
    const word = rules.wordFor(text);
    if (!rules.replaces(word)) return text;
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

function isAbbreviable(text: string, { pattern }: MarkerPattern): boolean {
  if (text.length < shortest || pattern === undefined) return false;
  return !takenApart.test(text) && text.search(pattern) === -1;
}

/** Not between the halves of a surrogate pair. */
function edgeBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc_00 && unit <= 0xdf_ff ? at - 1 : at;
}
