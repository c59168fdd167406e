/**
 * What vLLM leaves of a prompt that the request has it cut: so many ids, of its end unless it is told otherwise. Of a text
 * without a side the tokenizer itself does the cutting, and keeps what it adds in front (measured on 0.32.0 with three
 * families, by the ids in its replies; their number is compared with every reply's count).
 */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { GenerationRequest } from '../../exchange/request/request.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';

export interface Truncation {
  /** Longer prompts are cut to this many ids. */
  readonly most: number;
  readonly cut: NonNullable<KnownTokens['cut']>;
  readonly sideIsNamed: boolean;
}

/** @returns undefined if the request has nothing cut; `refused` if the engine refuses what it asks for */
export function truncationOf(
  request: GenerationRequest,
  facts: ModelFacts,
): Truncation | 'refused' | undefined {
  // One id stays free for what is generated.
  const whole = facts.contextTokens - 1;
  const { json } = request;
  if (request.kind === 'chat' && request.dialect === 'anthropic') return undefined;
  if (request.kind === 'chat' && request.dialect === 'responses') {
    const { truncation = 'disabled' } = json;
    return truncation === 'disabled' ? undefined : { most: whole, cut: 'start', sideIsNamed: false };
  }
  const limit = json['truncate_prompt_tokens'] ?? null;
  const side = json['truncation_side'] ?? null;
  if (limit === null) return undefined;
  if (typeof limit !== 'number' || limit === 0 || limit < -1) return 'refused';
  if (side !== null && side !== 'left' && side !== 'right') return 'refused';
  return {
    most: limit === -1 ? whole : limit,
    cut: side === 'right' ? 'end' : 'start',
    sideIsNamed: side !== null,
  };
}

/** @param added how many ids of the tokenizer's own stand in front: it keeps them where nobody names a side */
export function cutPrompt(
  { ids, source }: KnownTokens,
  { most, cut, sideIsNamed }: Truncation,
  added: number,
): KnownTokens {
  const kept = sideIsNamed ? 0 : Math.min(added, most);
  const left =
    cut === 'end'
      ? ids.slice(0, most)
      : Uint32Array.from([...ids.subarray(0, kept), ...ids.subarray(ids.length - (most - kept))]);
  // What was tokenized is no longer what stands there.
  return { known: true, ids: left, source, cut };
}
