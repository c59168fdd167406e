/**
 * Has vLLM tell the ids that a prompt had and that were generated, where the operator wants it, and takes them out of the
 * reply again: the client must see what it would have seen (recorded and compared on 0.32.0).
 */
import { applyEdits, type Edit } from '../../exchange/edits.ts';
import { locateValue } from '../../exchange/json/json-offsets.ts';
import type { GenerationRequest, JsonPath } from '../../exchange/request/request.ts';

import type { IdsAsked } from '../engine.ts';

const field = 'return_token_ids';

/** Undefined for a route that knows no such field, and for a client that has said itself what it wants. */
export function askingForIds(request: GenerationRequest): IdsAsked | undefined {
  const { json, body } = request;
  if (request.kind === 'chat' && request.dialect !== 'openai') return undefined;
  // Echoed text would be another one: the engine then takes it from the ids.
  if (json[field] !== undefined || (json['echo'] ?? false) !== false) return undefined;
  const end = body.lastIndexOf('}');
  return { edits: [{ start: end, end, replacement: `,"${field}":true` }], mend: withoutIds };
}

/** A reply or an event without the ids; undefined for an event that exists only because of them. */
export function withoutIds(json: Buffer): Buffer | undefined {
  const ids: Edit[] = [];
  const hide = (path: JsonPath): boolean => {
    const value = locateValue(json, path);
    // Unasked they are null.
    if (value === undefined || json[value.start] !== openBracket) return false;
    ids.push({ ...value, replacement: 'null' });
    return true;
  };
  hide(['prompt_token_ids']);
  for (let index = 0; locateValue(json, ['choices', index]) !== undefined; index += 1) {
    const choice = ['choices', index] as const;
    hide([...choice, 'prompt_token_ids']);
    if (hide([...choice, 'token_ids']) && isEmptyChunk(json, choice)) return undefined;
  }
  return ids.length === 0 ? json : applyEdits(json, ids);
}

const openBracket = 0x5b;

/** Tokens that say nothing yet (half of a call's beginning) make a chunk only where their ids are asked for. */
function isEmptyChunk(json: Buffer, choice: JsonPath): boolean {
  const raw = (name: string): string => {
    const value = locateValue(json, [...choice, name]);
    return value === undefined ? '' : json.toString('latin1', value.start, value.end);
  };
  return raw('delta') === '{}' && raw('finish_reason') === 'null' && raw('logprobs') === 'null';
}
