/**
 * llama-server's conversion of a `/v1/responses` body to a chat body (engine-protocols, section 2.2), for its oracle:
 * `/apply-template` knows chat bodies only. Follows the engine item by item, also where it refuses.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';

type Draft = Record<string, Json>;

/** @returns undefined if the engine refuses the body */
export function chatOfResponses(body: JsonObject): JsonObject | undefined {
  const { input, instructions, tools, reasoning, max_output_tokens: limit, ...rest } = body;
  if (typeof body['previous_response_id'] === 'string' && body['previous_response_id'] !== '')
    return undefined;
  if (tools !== undefined && !isArray(tools)) return undefined;
  const first: Draft[] = instructions === undefined ? [] : [{ role: 'system', content: text(instructions) }];
  const messages =
    typeof input === 'string' ? [...first, { role: 'user', content: input }] : items(input, first);
  if (messages === undefined) return undefined;
  const functions = (tools ?? []).filter((tool) => isObject(tool) && tool['type'] === 'function');
  const effort = isObject(reasoning) ? reasoning['effort'] : undefined;
  return {
    ...rest,
    messages,
    ...(functions.length > 0 && { tools: functions.map(convertTool) }),
    ...(limit !== undefined && { max_tokens: limit }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  };
}

function items(input: Json | undefined, first: Draft[]): Draft[] | undefined {
  if (!isArray(input)) return undefined;
  const messages = first;
  for (const item of input) {
    const converted = isObject(item) ? convertItem(item) : undefined;
    if (converted === undefined) return undefined;
    const last = messages.at(-1);
    // What the assistant said, thought and called stands in one message, however many items it came in.
    const { message: added, joins } = converted;
    if (joins === undefined || last?.['role'] !== 'assistant') messages.push(added);
    else if (joins === 'reasoning_content') last[joins] = added[joins] ?? '';
    else last[joins] = [...list(last[joins]), ...list(added[joins])];
  }
  return messages;
}

interface Converted {
  readonly message: Draft;
  /** What an item adds to the assistant's message before it; absent for those that always stand alone. */
  readonly joins?: 'content' | 'tool_calls' | 'reasoning_content';
}

/** Undefined for what the engine refuses. */
function convertItem(item: JsonObject): Converted | undefined {
  const { role, type } = item;
  if (typeof role === 'string' && instructing.has(role) && contentOf(item) !== undefined) {
    return message(item, inputPart);
  }
  if (role === 'assistant' && type === 'message') {
    const said = message(item, outputPart);
    return said && { ...said, joins: 'content' };
  }
  if (type === 'function_call') return call(item);
  if (type === 'function_call_output') return output(item);
  return type === 'reasoning' ? thought(item) : undefined;
}

const instructing = new Set(['user', 'system', 'developer']);

/** A content of one string is one part of text. */
function contentOf({ content }: JsonObject): readonly Json[] | undefined {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  return isArray(content) ? content : undefined;
}

function message(item: JsonObject, convert: PartConverter): Converted | undefined {
  const content = convertParts(contentOf(item) ?? [], convert);
  if (content === undefined) return undefined;
  return { message: { ...without(item, 'type', 'status'), content } };
}

type PartConverter = (part: Json) => JsonObject | undefined;

function convertParts(parts: readonly Json[], convert: PartConverter): JsonObject[] | undefined {
  const converted = parts.map(convert).filter((part) => part !== undefined);
  return converted.length === parts.length ? converted : undefined;
}

function inputPart(part: Json): JsonObject | undefined {
  if (!isObject(part)) return undefined;
  if (part['type'] === 'input_text' && part['text'] !== undefined)
    return { type: 'text', text: part['text'] };
  if (part['type'] !== 'input_image' || part['image_url'] === undefined) return undefined;
  return { type: 'image_url', image_url: { url: part['image_url'] } };
}

function outputPart(part: Json): JsonObject | undefined {
  if (!isObject(part)) return undefined;
  const { type, text: said, refusal } = part;
  if (type === 'refusal') return typeof refusal === 'string' ? { type, refusal } : undefined;
  const known = type === 'output_text' || type === 'input_text';
  return known && typeof said === 'string' ? { type: 'text', text: said } : undefined;
}

function call({ arguments: given, call_id: id, name }: JsonObject): Converted | undefined {
  if (typeof given !== 'string' || typeof id !== 'string' || typeof name !== 'string') return undefined;
  const calls = [{ id, type: 'function', function: { name, arguments: given } }];
  return { message: { role: 'assistant', tool_calls: calls }, joins: 'tool_calls' };
}

function output({ call_id: id, output: given }: JsonObject): Converted | undefined {
  if (typeof id !== 'string') return undefined;
  const parts = isArray(given) ? convertParts(given, inputPart) : undefined;
  const content = typeof given === 'string' ? given : parts;
  return content === undefined ? undefined : { message: { role: 'tool', tool_call_id: id, content } };
}

function thought({ summary, content }: JsonObject): Converted | undefined {
  const [part] = isArray(content) ? content : [];
  if (!isArray(summary) || !isObject(part) || typeof part['text'] !== 'string') return undefined;
  return {
    message: { role: 'assistant', content: [], reasoning_content: part['text'] },
    joins: 'reasoning_content',
  };
}

function convertTool(tool: Json): JsonObject {
  const definition = isObject(tool) ? without(tool, 'type') : {};
  const strict = definition['strict'] === undefined && { strict: true };
  return { type: 'function', function: { ...definition, ...strict } };
}

function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

function list(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
