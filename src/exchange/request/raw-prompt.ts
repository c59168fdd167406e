/**
 * The `prompt` of a raw route in every form that llama.cpp's server accepts; an engine that accepts fewer answers the
 * rest with its own error. Reads only: nothing is tokenized, repaired or given a default.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import type { Json, JsonPath, RawPrompt } from './request.ts';

/** Engines keep token ids in 32 bits; -1 stands for media inside them and is never a client's to send. */
export const maxTokenId = 0x7fff_ffff;

/** The prompts in the engine's order of prompt indexes; undefined if the value has none of the accepted forms. */
export function readRawPrompts(prompt: Json | undefined): RawPrompt[] | undefined {
  const path = ['prompt'];
  // An array that holds any number is one prompt; any other array is a list of prompts.
  if (!isArray(prompt) || prompt.some(isNumber)) {
    const single = readOne(prompt, path);
    return single && [single];
  }
  const prompts: RawPrompt[] = [];
  for (const [index, element] of prompt.entries()) {
    const one = readOne(element, [...path, index]);
    if (one === undefined) return undefined;
    prompts.push(one);
  }
  return prompts.length > 0 ? prompts : undefined;
}

function readOne(value: Json | undefined, path: JsonPath): RawPrompt | undefined {
  if (typeof value === 'string') return { form: 'text', text: value, path };
  // Within a list, strings alone do not make a prompt: the engine refuses [["a","b"]].
  // An empty one is a prompt of no ids, which is answered with nothing.
  if (isArray(value)) return value.length === 0 || value.some(isNumber) ? readItems(value, path) : undefined;
  if (!isObject(value) || value['prompt_string'] === undefined) return undefined;
  const inner = [...path, 'prompt_string'];
  if (value['multimodal_data'] !== undefined) return { form: 'media', path: inner };
  const text = value['prompt_string'];
  if (typeof text === 'string') return { form: 'text', text, path: inner };
  return isArray(text) ? readItems(text, inner) : undefined;
}

function readItems(given: readonly Json[], path: JsonPath): RawPrompt | undefined {
  const items = given.some(isWide) ? given.map((item) => (isWide(item) ? item | 0 : item)) : given;
  if (items.every(isTokenId))
    return { form: 'ids', ids: items, path, ...(items !== given && { cast: true }) };
  if (items.every(isItem)) return { form: 'mixed', items, path };
  return undefined;
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}

/** A whole number of more than 32 bits. Of one that is not safe JavaScript has lost digits, so it stays what it is. */
function isWide(value: Json): value is number {
  return Number.isSafeInteger(value) && !isTokenId(value);
}

function isTokenId(value: Json): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTokenId;
}

function isItem(value: Json): value is string | number {
  return typeof value === 'string' || isTokenId(value);
}
