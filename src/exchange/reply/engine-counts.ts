/** Reads the counts that engines put into replies: OpenAI's `usage`, and `timings` as llama.cpp's server adds them. */
import { isObject } from '../json/body-reader.ts';
import type { ChoiceCounts } from './reply-choices.ts';
import type { Json, JsonObject } from '../request/request.ts';

/** `usage` and `timings` of one object; usage wins where both tell. Undefined fields for what neither tells. */
export function readCounts(part: JsonObject): ChoiceCounts {
  const timings = readTimings(part['timings']);
  const usage = isObject(part['usage']) ? part['usage'] : {};
  const details = usage['prompt_tokens_details'];
  return {
    promptTokens: count(usage['prompt_tokens']) ?? timings.promptTokens,
    cachedTokens: (isObject(details) ? count(details['cached_tokens']) : undefined) ?? timings.cachedTokens,
    completionTokens: count(usage['completion_tokens']) ?? timings.completionTokens,
    prefillTokensPerSecond: timings.prefillTokensPerSecond,
  };
}

/** `cache_n` ids were reused and `prompt_n` evaluated: together the prompt. */
function readTimings(timings: Json | undefined): ChoiceCounts {
  if (!isObject(timings)) return {};
  const cached = count(timings['cache_n']);
  const evaluated = count(timings['prompt_n']);
  const rate = timings['prompt_per_second'];
  return {
    promptTokens: cached !== undefined && evaluated !== undefined ? cached + evaluated : undefined,
    cachedTokens: cached,
    completionTokens: count(timings['predicted_n']),
    prefillTokensPerSecond: typeof rate === 'number' && rate > 0 ? rate : undefined,
  };
}

/** `prompt_progress`: counts that are known before the first token. Undefined if the part is not one of progress. */
export function readProgress(part: JsonObject): ChoiceCounts | undefined {
  const progress = part['prompt_progress'];
  if (!isObject(progress)) return undefined;
  return { promptTokens: count(progress['total']), cachedTokens: count(progress['cache']) };
}

/** A whole number that is not negative, else undefined. */
export function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}
