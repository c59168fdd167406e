/**
 * The texts of a chat that can reach the prompt and hold markers, each with its place in the body. Reads the request
 * once for all detectors; media and names that are no text are left out.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type {
  ChatRequest,
  GenerationRequest,
  Json,
  JsonObject,
  JsonPath,
} from '../../exchange/request/request.ts';
import { ownForms, type OwnForms } from './turn-forms.ts';
import { markerHits, firstMarker, take, turnShape, type MarkerHit, type TurnShape } from './turn-signs.ts';

export interface ContentText {
  readonly text: string;
  readonly path: JsonPath;
  /** Index into the request's messages; absent for a text of a tool. */
  readonly message?: number;
}

/** A text with more is no text with a marker in it: it is not repaired but can be rejected. */
export const mostHits = 256;

/** A text that holds a marker which no text should hold. What that comes to is found out when it is asked for. */
export class MarkedText implements ContentText {
  readonly text: string;
  readonly path: JsonPath;
  readonly message?: number;
  /** No marker stands before it. */
  readonly #from: number;
  readonly #forms: OwnForms;
  #hits: readonly MarkerHit[] | undefined;
  #shape: { readonly known: TurnShape | undefined } | undefined;

  constructor({ text, path, message }: ContentText, from: number, forms: OwnForms) {
    this.text = text;
    this.path = path;
    if (message !== undefined) this.message = message;
    this.#from = from;
    this.#forms = forms;
  }

  get shape(): TurnShape | undefined {
    this.#shape ??= { known: turnShape(this.text, this.#forms) };
    return this.#shape.known;
  }

  /** Its markers in order; one more than `mostHits` where there are more. */
  get hits(): readonly MarkerHit[] {
    this.#hits ??= [...take(markerHits(this.text, this.#forms, this.#from), mostHits + 1)];
    return this.#hits;
  }

  /** Undefined where all that it holds is part of longer tokens, which may stand in a text. */
  get first(): MarkerHit | undefined {
    return take(markerHits(this.text, this.#forms, this.#from), 1).next().value as MarkerHit | undefined;
  }

  /** The first of its markers that is one of these. */
  firstOf(markers: ReadonlySet<string>): MarkerHit | undefined {
    if (![...markers].some((marker) => this.text.includes(marker))) return undefined;
    for (const hit of markerHits(this.text, this.#forms, this.#from)) if (markers.has(hit.text)) return hit;
    return undefined;
  }
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

const marked = new WeakMap<
  GenerationRequest,
  { readonly facts: ModelFacts; readonly texts: readonly MarkedText[] }
>();

/** The chat's texts that hold a marker which no text should hold; [] for other requests. */
export function markedTexts({ request, facts }: Exchange): readonly MarkedText[] {
  if (request?.kind !== 'chat' || facts === undefined) return [];
  const known = marked.get(request);
  if (known?.facts === facts) return known.texts;
  const texts = findMarkedTexts(request, ownForms(facts));
  marked.set(request, { facts, texts });
  return texts;
}

/** Goes through every string once; most hold nothing. */
function findMarkedTexts(request: ChatRequest, forms: OwnForms): MarkedText[] {
  const found: MarkedText[] = [];
  /** From a message or a tool down to what is looked at: the way is put together only for texts that hold a marker. */
  const steps: (string | number)[] = [];
  let at: JsonPath = [];
  let message: number | undefined;
  let index = 0;
  for (const { value, path, contentPath } of request.messages) {
    message = index;
    for (const name in value) {
      if (name === 'content') {
        at = contentPath;
        look(value[name]);
      } else if (!noText.has(name)) {
        at = path;
        lookIn(value, name);
      }
    }
    index += 1;
  }
  message = undefined;
  at = ['tools'];
  for (let index = 0; index < request.tools.length; index += 1) lookIn(request.tools, index);
  return found;

  function lookIn(value: JsonObject | readonly Json[], step: string | number): void {
    steps.push(step);
    look((value as Readonly<Record<string | number, Json>>)[step]);
    steps.pop();
  }

  function look(value: Json | undefined): void {
    if (typeof value === 'string') {
      const from = firstMarker(value, forms);
      if (from < 0 || value.startsWith('data:')) return;
      const path = [...at, ...steps];
      found.push(
        new MarkedText({ text: value, path, ...(message !== undefined && { message }) }, from, forms),
      );
    } else if (isArray(value)) {
      for (let index = 0; index < value.length; index += 1) lookIn(value, index);
    } else if (isObject(value)) {
      for (const name in value) if (!noText.has(name)) lookIn(value, name);
    }
  }
}
