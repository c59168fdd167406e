/** What has moved between the prompt of then and the one that the engine makes of the same request today. */
import type { ModelFacts } from '../exchange/model-facts.ts';
import { divergenceOf, type Divergence } from '../tokens/divergence.ts';

export interface ComparedPrompt {
  readonly ids: Uint32Array;
  readonly facts: ModelFacts;
}

export interface Movement extends Divergence {
  readonly thenTokens: number;
  readonly nowTokens: number;
}

/** Undefined if the ids are the same. */
export function compareIds(then: ComparedPrompt, now: ComparedPrompt): Movement | undefined {
  const divergence = divergenceOf(
    { ...then, name: 'The recorded prompt' },
    { ...now, name: "Today's prompt" },
  );
  return divergence && { ...divergence, thenTokens: then.ids.length, nowTokens: now.ids.length };
}
