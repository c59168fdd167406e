/** The field by which a request has its prompt cut. */
import type { GenerationRequest } from '../../exchange/request/request.ts';

/** Undefined if this request has none: then an earlier one had. */
export function cutField({ json }: GenerationRequest): string | undefined {
  return ['truncate_prompt_tokens', 'truncation'].find((field) => (json[field] ?? null) !== null);
}
