/** Reads llama-server's error for a prompt that its slot has no room for. It never counts the answer in. */
import { count } from '../../exchange/reply/engine-counts.ts';
import type { ContextRefusal } from '../../exchange/reply/reply.ts';
import type { JsonObject } from '../../exchange/request/request.ts';

/** @param error the `error` object of the reply; undefined for an error about something else */
export function readLlamaRefusal(error: JsonObject): ContextRefusal | undefined {
  if (error['type'] !== 'exceed_context_size_error') return undefined;
  const promptTokens = count(error['n_prompt_tokens']);
  const contextTokens = count(error['n_ctx']);
  return {
    ...(promptTokens === undefined ? {} : { promptTokens }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
  };
}
