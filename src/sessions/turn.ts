/** Makes the two ends of a session's memory: what a prompt looks for, and what is kept of it afterwards. Pure. */
import type { ModelFacts } from '../exchange/model-facts.ts';
import { lostReasoning } from '../exchange/written/lost-reasoning.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';
import type { RequestDigest, SessionMatch, Turn } from '../exchange/session-match.ts';
import type { KnownTokens } from '../exchange/token-read.ts';
import type { RequestDigester } from './digest.ts';
import { trailingAssistantStart } from './raw-turns.ts';

/** Everything that the request shows of its conversation; undefined where only the ids can tell. */
export function digestRequest(
  request: GenerationRequest,
  tokens: KnownTokens,
  facts: ModelFacts,
  digester: RequestDigester,
): RequestDigest | undefined {
  return request.kind === 'chat'
    ? digester.chat(request, { rendered: tokens.text, facts })
    : digester.raw(tokens, facts);
}

/** Undefined if the request has no salt, or if the engine reads none. */
export function saltOf(
  { json }: GenerationRequest,
  { saltsCache }: ModelFacts,
  digester: RequestDigester,
): string | undefined {
  const salt = json['cache_salt'];
  return saltsCache === true && typeof salt === 'string' ? digester.salt(salt) : undefined;
}

/** @param generated ids that followed the prompt, where the reply carried them. */
export function turnOf(
  match: SessionMatch,
  request: GenerationRequest,
  tokens: KnownTokens,
  facts: ModelFacts,
  generated: readonly number[] = [],
): Turn {
  const isShown = request.kind === 'chat' && tokens.text !== undefined;
  return {
    ids: tokens.ids,
    generated: Uint32Array.from(generated),
    ...(match.digest && { digest: match.digest }),
    ...(isShown && {
      lostReasoning: lostReasoning(request, tokens.text, facts.reading).map(({ turn }) => turn),
    }),
    tail: tailOf(tokens, facts),
    ...(tokens.cut !== undefined && { cut: true }),
    sequence: match.sequence,
    ...(match.leftSalt && { leftSalt: true }),
  };
}

/**
 * What stands at the prompt's end only until the reply is there: the learnt generation prompt and think tail, or the
 * whole of a reply that the client has begun itself.
 */
function tailOf(tokens: KnownTokens, facts: ModelFacts): Turn['tail'] {
  const { ids } = tokens;
  const prompt = facts.generationPrompt?.ids ?? [];
  const think = facts.thinkTail?.ids ?? [];
  if (think.length > 0 && endsWith(ids, [...prompt, ...think])) {
    return { generationPrompt: prompt.length, think: think.length };
  }
  if (prompt.length > 0 && endsWith(ids, prompt)) return { generationPrompt: prompt.length, think: 0 };
  const begun = trailingAssistantStart(tokens, facts);
  return { generationPrompt: begun === undefined ? 0 : ids.length - begun, think: 0 };
}

function endsWith(ids: Uint32Array, end: readonly number[]): boolean {
  const start = ids.length - end.length;
  return start >= 0 && end.every((id, index) => ids[start + index] === id);
}
