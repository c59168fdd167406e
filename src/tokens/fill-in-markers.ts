/**
 * How vocabularies spell the markers of a fill-in prompt (prefix, suffix, middle). Candidates only: which of them a
 * served model has is proven by its engine.
 *
 * Source: the texts that llama.cpp's `src/llama-vocab.cpp` knows them by, and Codestral's.
 */
import type { Marker } from '../exchange/model-facts.ts';

export const fillInSpellings: readonly (readonly string[])[] = [
  ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'],
  ['<fim_prefix>', '<fim_suffix>', '<fim_middle>'],
  ['<fim-prefix>', '<fim-suffix>', '<fim-middle>'],
  ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>'],
  ['<PRE>', '<SUF>', '<MID>'],
  ['▁<PRE>', '▁<SUF>', '▁<MID>'],
  ['<|code_prefix|>', '<|code_suffix|>', '<|code_middle|>'],
  ['<|prefix|>', '<|suffix|>', '<|middle|>'],
  ['[PREFIX]', '[SUFFIX]', '[MIDDLE]'],
];

const texts: ReadonlySet<string> = new Set(fillInSpellings.flat());

/** Those of a model's markers that make a prompt a fill-in one. */
export function fillInMarkers(markers: readonly Marker[]): Marker[] {
  return markers.filter(({ text }) => texts.has(text));
}
