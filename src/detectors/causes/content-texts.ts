/**
 * The texts of a chat that can reach the prompt and hold markers, each with its place in the body. Reads the request
 * once for all detectors; media and names that are no text are left out.
 */
import { isArray, isObject } from '../../exchange/body-reader.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { ChatMessage, ChatRequest, GenerationRequest, Json, JsonPath } from '../../exchange/request.ts';
import { ownForms } from './turn-forms.ts';
import { findMarkers, turnSigns, turnShape, type MarkerHit, type TurnShape } from './turn-signs.ts';

export interface ContentText {
  readonly text: string;
  readonly path: JsonPath;
  /** Index into the request's messages; absent for a text of a tool. */
  readonly message?: number;
}

export interface MarkedText extends ContentText {
  /** Never empty; at most `mostHits`. */
  readonly hits: readonly MarkerHit[];
  readonly shape?: TurnShape;
}

/** Members whose strings are names, ids or media: engines write none of them into a prompt as they are. */
const noText = new Set([
  'cache_control',
  'call_id',
  'data',
  'detail',
  'encrypted_content',
  'file_data',
  'format',
  'id',
  'image_url',
  'media_type',
  'role',
  'signature',
  'tool_call_id',
  'tool_use_id',
  'type',
  'url',
]);

function contentTexts(request: ChatRequest): ContentText[] {
  const texts: ContentText[] = [];
  for (const [index, message] of request.messages.entries()) addMessage(message, index, texts);
  for (const [index, tool] of request.tools.entries()) add(tool, ['tools', index], undefined, texts);
  return texts;
}

function addMessage({ value, path, contentPath }: ChatMessage, message: number, texts: ContentText[]): void {
  for (const [name, member] of Object.entries(value)) {
    if (noText.has(name)) continue;
    add(member, name === 'content' ? contentPath : [...path, name], message, texts);
  }
}

function add(value: Json, path: JsonPath, message: number | undefined, texts: ContentText[]): void {
  if (typeof value === 'string') {
    if (value !== '' && !value.startsWith('data:')) {
      texts.push({ text: value, path, ...(message !== undefined && { message }) });
    }
  } else if (isArray(value)) {
    for (const [index, item] of value.entries()) add(item, [...path, index], message, texts);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (!noText.has(name)) add(member, [...path, name], message, texts);
    }
  }
}

const marked = new WeakMap<
  GenerationRequest,
  { readonly facts: ModelFacts; readonly texts: readonly MarkedText[] }
>();

/** The chat's texts that hold a marker of the vocabulary or of the template; [] for other requests. */
export function markedTexts({ request, facts }: Exchange): readonly MarkedText[] {
  if (request?.kind !== 'chat' || facts === undefined) return [];
  const known = marked.get(request);
  if (known?.facts === facts) return known.texts;
  const forms = ownForms(facts);
  const texts = contentTexts(request).flatMap((one): MarkedText[] => {
    const hits = findMarkers(one.text, forms.pattern);
    if (hits.length === 0) return [];
    const shape = turnShape(one.text, turnSigns(one.text, hits, forms), forms.frame);
    return [{ ...one, hits, ...(shape !== undefined && { shape }) }];
  });
  marked.set(request, { facts, texts });
  return texts;
}
