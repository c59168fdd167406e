/**
 * vLLM's conversion of a `/v1/responses` body to a chat (its `entrypoints/openai/responses`, read at 0.32.0), for its
 * oracle: `/tokenize` knows chats only. Follows the engine item by item.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';
import { withEffort } from './messages.ts';

type Draft = Record<string, Json>;

/** @returns undefined if the engine refuses the body, or if its prompt depends on what the engine has stored */
export function chatOfResponses(body: JsonObject): JsonObject | undefined {
  const { input, instructions, reasoning } = body;
  if ((body['previous_response_id'] ?? null) !== null || (body['prompt'] ?? null) !== null) return undefined;
  const first: Draft[] =
    typeof instructions === 'string' && instructions !== ''
      ? [{ role: 'system', content: instructions }]
      : [];
  const messages =
    typeof input === 'string' ? [...first, { role: 'user', content: input }] : convertItems(input, first);
  const tools = convertTools(body['tools']);
  if (messages === undefined || tools === undefined) return undefined;
  const continues = isContinued(input);
  const effort = isObject(reasoning) ? (reasoning['effort'] ?? null) : null;
  const kwargs = withEffort(body['chat_template_kwargs'], effort);
  return {
    ...(typeof body['model'] === 'string' && { model: body['model'] }),
    messages,
    ...(tools !== null && { tools }),
    ...(kwargs !== null && { chat_template_kwargs: kwargs }),
    add_generation_prompt: !continues,
    continue_final_message: continues,
    // The template has written them already: this route doubles them.
    add_special_tokens: true,
  };
}

/** The last item is an answer, or a thought, that was not finished. */
function isContinued(input: Json | undefined): boolean {
  const last = isArray(input) ? input.at(-1) : undefined;
  if (!isObject(last)) return false;
  const { type = 'message', status } = last;
  return (
    (type === 'message' || type === 'reasoning') && (status === 'in_progress' || status === 'incomplete')
  );
}

function convertItems(input: Json | undefined, messages: Draft[]): Draft[] | undefined {
  if (!isArray(input)) return undefined;
  for (const item of input) {
    const made = isObject(item) ? convertItem(item) : undefined;
    if (made === undefined) return undefined;
    const last = messages.at(-1);
    const answer = last?.['role'] === 'assistant' ? last : undefined;
    const { message, joins } = made;
    // What the assistant said, thought and called stands in one message, as long as each comes once.
    if (answer === undefined || joins === undefined) messages.push(message);
    else if (joins === 'tool_calls') answer[joins] = [...list(answer[joins]), ...list(message[joins])];
    else if (answer[joins] === undefined) answer[joins] = message[joins] ?? null;
    else messages.push(message);
  }
  return messages;
}

interface Converted {
  readonly message: Draft;
  /** The member that an item adds to the assistant's message before it; absent for those that stand alone. */
  readonly joins?: 'content' | 'tool_calls' | 'reasoning';
}

/** Undefined for what the engine refuses, or what is not followed. */
function convertItem(item: JsonObject): Converted | undefined {
  const { type, role } = item;
  switch (type) {
    case 'function_call':
      return functionCall(item);
    case 'custom_tool_call':
      return customCall(item);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return toolOutput(item);
    case 'reasoning':
      return thought(item);
    case 'message':
    case undefined:
      return role === 'assistant' ? answer(item) : instruction(item);
    default:
      return undefined;
  }
}

const askingRoles: ReadonlySet<Json | undefined> = new Set(['user', 'system', 'developer']);

function instruction({ role, content }: JsonObject): Converted | undefined {
  const said = typeof content === 'string' ? content : askedParts(content);
  if (typeof role !== 'string' || !askingRoles.has(role) || said === undefined) return undefined;
  return { message: { role, content: said } };
}

/** Of several parts of an answer the engine takes the first. */
function answer({ content }: JsonObject): Converted | undefined {
  const [part] = isArray(content) ? content : [];
  const said = typeof content === 'string' ? content : isObject(part) ? part['text'] : undefined;
  if (typeof said !== 'string') return undefined;
  return { message: { role: 'assistant', content: said }, joins: 'content' };
}

function functionCall(item: JsonObject): Converted | undefined {
  const { arguments: given, call_id: id, name, namespace } = item;
  if (typeof given !== 'string' || typeof id !== 'string' || typeof name !== 'string') return undefined;
  return call(
    id,
    typeof namespace === 'string' && namespace !== '' ? flatName(namespace, name) : name,
    given,
  );
}

function customCall({ input, call_id: id, name }: JsonObject): Converted | undefined {
  if (typeof input !== 'string' || typeof id !== 'string' || typeof name !== 'string') return undefined;
  return call(id, name, JSON.stringify({ input }));
}

function call(id: string, name: string, given: string): Converted {
  const calls = [{ id, type: 'function', function: { name, arguments: given } }];
  return { message: { role: 'assistant', tool_calls: calls }, joins: 'tool_calls' };
}

function toolOutput({ call_id: id, output }: JsonObject): Converted | undefined {
  const content = typeof output === 'string' ? output : askedParts(output);
  if (typeof id !== 'string' || content === undefined) return undefined;
  return { message: { role: 'tool', tool_call_id: id, content } };
}

/** A thought that only its owner can read is refused. */
function thought({ content, summary, encrypted_content: hidden }: JsonObject): Converted | undefined {
  if (!isArray(summary) || (hidden ?? '') !== '') return undefined;
  const [part] = isArray(content) && content.length > 0 ? content : summary;
  const said = part === undefined ? '' : isObject(part) ? part['text'] : undefined;
  if (typeof said !== 'string') return undefined;
  return { message: { role: 'assistant', reasoning: said }, joins: 'reasoning' };
}

/** Undefined if one of the parts is neither text nor a picture. */
function askedParts(given: Json | undefined): JsonObject[] | undefined {
  if (!isArray(given)) return undefined;
  const parts = given.flatMap((part): JsonObject[] => {
    if (!isObject(part)) return [];
    const { type, text: said, image_url: url } = part;
    if (type === 'input_text' && typeof said === 'string') return [{ type: 'text', text: said }];
    return type === 'input_image' && typeof url === 'string'
      ? [{ type: 'image_url', image_url: { url } }]
      : [];
  });
  return parts.length === given.length ? parts : undefined;
}

/** null for none; undefined if the engine refuses them. Tools of the server's own are none of the model's. */
function convertTools(tools: Json | undefined): JsonObject[] | null | undefined {
  if (tools === undefined) return null;
  if (!isArray(tools)) return undefined;
  if (tools.length === 0) return null;
  const functions: JsonObject[] = [];
  for (const tool of tools) {
    if (!isObject(tool)) return undefined;
    if (tool['type'] === 'function') functions.push(asFunction(tool));
    if (tool['type'] === 'custom') functions.push(asFunction({ ...tool, parameters: freeText }));
    if (tool['type'] !== 'namespace') continue;
    for (const member of list(tool['tools'])) {
      if (!isObject(member) || member['type'] !== 'function') return undefined;
      functions.push(asFunction(member, text(tool['name'])));
    }
  }
  return functions;
}

/** What a tool that takes any text is shown to the model as. */
const freeText: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The freeform text payload for this tool.' } },
  required: ['input'],
  additionalProperties: false,
};

function asFunction(tool: JsonObject, namespace = ''): JsonObject {
  const { name, description, parameters, strict, defer_loading: deferred } = tool;
  return {
    type: 'function',
    function: {
      name: namespace === '' ? (name ?? null) : flatName(namespace, text(name)),
      description: description ?? null,
      parameters: parameters ?? null,
      strict: strict ?? null,
      defer_loading: deferred ?? null,
    },
  };
}

function flatName(namespace: string, name: string): string {
  return `${namespace}__${name}`;
}

function list(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
