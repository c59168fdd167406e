/** Which raw requests are there to score a text: nothing about how it is to be answered is wrong with them. */
import type { CompletionRequest } from '../../exchange/request/request.ts';

/** Requests for likelihoods, or for no more than one token, score a text; they don't ask for an answer. */
const scoringFields = ['echo', 'logprobs', 'n_probs', 'prompt_logprobs'] as const;

export function isScoring({ json, maxTokens }: CompletionRequest): boolean {
  if (maxTokens !== undefined && maxTokens <= 1) return true;
  return scoringFields.some((field) => {
    const value = json[field];
    return value === true || (typeof value === 'number' && value > 0);
  });
}
