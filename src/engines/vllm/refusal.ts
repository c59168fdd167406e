/**
 * Reads vLLM's error for a request that is longer than the model's context, out of its text: its error has no fields of
 * its own. Two texts are those of 0.32.0, alike on all routes; the other wordings are known of other releases, and were
 * not seen from a running server.
 */
import type { ContextRefusal } from '../../exchange/reply/reply.ts';
import type { JsonObject } from '../../exchange/request/request.ts';

const contextLength =
  /maximum (?:context|model) length (?:is|of) (\d+)|greater than max_model_len=(\d+)|maximum context length \((\d+)\)|longer than the maximum model length of (\d+)/;
const promptLength =
  /(?:at least|has|contains) (\d+) input tokens|\((\d+) in the (?:messages|prompt)|prompt \(length (\d+)\)|Input length \((\d+)\)/;
const answerLength =
  /^max_(?:output_|completion_)?tokens=(\d+)|requested (\d+) output tokens|is too large: (\d+)|, (\d+) in the completion\)/;

/** @param error the `error` object of the reply; undefined for an error about something else */
export function readVllmRefusal({ message }: JsonObject): ContextRefusal | undefined {
  if (typeof message !== 'string') return undefined;
  const contextTokens = numberIn(message, contextLength);
  if (contextTokens === undefined) return undefined;
  const promptTokens = numberIn(message, promptLength);
  const answerTokens = numberIn(message, answerLength);
  return {
    contextTokens,
    ...(promptTokens === undefined ? {} : { promptTokens }),
    ...(answerTokens === undefined ? {} : { answerTokens }),
  };
}

function numberIn(message: string, pattern: RegExp): number | undefined {
  // The alternatives have a group each, and all but one stay empty.
  const digits = pattern.exec(message)?.slice(1).join('');
  return digits === undefined ? undefined : Number(digits);
}
