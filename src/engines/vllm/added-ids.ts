/**
 * Which BOS (or other) ids vLLM puts in front of a request's prompts by itself. It differs by route, and on two of them the
 * request decides (engine-protocols, section 3.3).
 */
import type { Edit } from '../../exchange/edits.ts';
import { locateValue } from '../../exchange/json/json-offsets.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { GenerationRequest } from '../../exchange/request/request.ts';
import type { AddedIds } from '../../exchange/token-read.ts';

const field = 'add_special_tokens';
const nothing: AddedIds = { ids: [], by: 'route' };

/** @returns what is added to each of the request's texts; to ids nothing ever is. */
export function addedTo(request: GenerationRequest, facts: ModelFacts): AddedIds {
  const ids = facts.addedPrefix.completion;
  const asked = request.json[field];
  if (request.kind === 'completion') {
    return asked === false ? nothing : switchable(request, facts, asked === true);
  }
  switch (request.dialect) {
    case 'openai':
      return asked === true ? switchable(request, facts, true) : nothing;
    case 'anthropic':
      return nothing;
    case 'responses':
      // The template has written them before; no field of this route's says otherwise.
      return { ids, by: 'route' };
  }
}

function switchable(request: GenerationRequest, facts: ModelFacts, isAsked: boolean): AddedIds {
  const added: AddedIds = { ids: facts.addedPrefix.completion, by: isAsked ? 'request' : 'route', field };
  // What is added at the end would be gone too.
  if (facts.addedSuffix.completion.length > 0) return added;
  return { ...added, without: switchedOff(request.body) };
}

function switchedOff(body: Buffer): Edit[] {
  const value = locateValue(body, [field]);
  if (value !== undefined) return [{ ...value, replacement: 'false' }];
  const end = body.lastIndexOf('}');
  return [{ start: end, end, replacement: `,"${field}":false` }];
}
