/** What a prompt ends with: the question for every kind that is about how an answer is opened. Judges nobody. */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';

/** True if the ids end with the learnt generation prompt, with or without the tail that stands for no thinking. */
export function opensAnswer({ ids }: KnownTokens, { generationPrompt, thinkTail }: ModelFacts): boolean {
  if (generationPrompt === undefined) return false;
  const tail = generationPrompt.ids;
  return endsWith(ids, tail) || (thinkTail !== undefined && endsWith(ids, [...tail, ...thinkTail.ids]));
}

function endsWith(ids: Uint32Array, tail: readonly number[]): boolean {
  const start = ids.length - tail.length;
  return start >= 0 && tail.every((id, index) => ids[start + index] === id);
}
