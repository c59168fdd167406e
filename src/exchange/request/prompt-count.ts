/** How many prompts the engine makes of a request, and so how many readings there are of it. */
import type { GenerationRequest } from './request.ts';

/** A chat is one prompt; the raw route takes several. */
export function promptCount(request: GenerationRequest): number {
  return request.kind === 'completion' ? request.prompts.length : 1;
}
