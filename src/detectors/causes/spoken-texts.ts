/**
 * The texts that somebody says to the model: of the user's messages and of instructions. What the model wrote itself,
 * what tools returned and what is no text is left out. Found once for all detectors.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { ChatRequest, Json, JsonPath } from '../../exchange/request/request.ts';
import { instructs } from '../../exchange/request/system-text.ts';
import type { ContentText } from './content-texts.ts';
import { isEmptyTurn } from './empty-turn.ts';

const textTypes = new Set<unknown>([undefined, 'text', 'input_text']);

export interface SpokenText extends ContentText {
  readonly message: number;
  /** True if it is all that the request says: nothing else tells the model what to do with it. */
  readonly alone: boolean;
}

/** A conversation may have very many short ones, most of which are looked at once: only of the others more is put together. */
export class SpokenTexts {
  readonly texts: readonly string[];
  readonly #messages: ChatRequest['messages'];
  /** By text the index of its message, and that of its part; -1 where the content is no list. */
  readonly #places: readonly number[];

  constructor({ messages }: ChatRequest) {
    const texts: string[] = [];
    const places: number[] = [];
    let index = 0;
    for (const one of messages) {
      if (one.role === 'user' || instructs(one)) {
        const { content } = one.value;
        if (typeof content === 'string') {
          texts.push(content);
          places.push(index, -1);
        } else if (isArray(content)) {
          for (const [part, { text }] of textParts(content)) {
            texts.push(text);
            places.push(index, part);
          }
        }
      }
      index += 1;
    }
    this.texts = texts;
    this.#messages = messages;
    this.#places = places;
  }

  /** True if there is one, and nothing else in the request but what may be left out of it. */
  get isAlone(): boolean {
    if (this.texts.length !== 1) return false;
    const [holder] = this.#places;
    return this.#messages.every((one, index) => index === holder || isEmptyTurn(one));
  }

  /** @param index of one of the texts */
  at(index: number): SpokenText {
    const message = this.#places[index * 2] ?? 0;
    const part = this.#places[index * 2 + 1] ?? -1;
    const content = this.#messages[message]?.contentPath ?? [];
    const path: JsonPath = part < 0 ? content : [...content, part, 'text'];
    return { text: this.texts[index] ?? '', path, message, alone: this.isAlone };
  }
}

const spoken = new WeakMap<ChatRequest, SpokenTexts>();

export function spokenTexts(request: ChatRequest): SpokenTexts {
  const known = spoken.get(request);
  if (known !== undefined) return known;
  const texts = new SpokenTexts(request);
  spoken.set(request, texts);
  return texts;
}

function textParts(content: readonly Json[]): (readonly [number, { readonly text: string }])[] {
  const parts: (readonly [number, { readonly text: string }])[] = [];
  for (const [at, part] of content.entries()) {
    if (!isObject(part) || !textTypes.has(part['type'])) continue;
    const { text } = part;
    if (typeof text === 'string') parts.push([at, { text }]);
  }
  return parts;
}
