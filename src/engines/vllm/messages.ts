/**
 * vLLM's conversion of a `/v1/messages` body to a chat (its `entrypoints/anthropic/serving.py`, read at 0.32.0), for its
 * oracle: `/tokenize` knows chats only. Keeps what can reach the prompt.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';

/** What the conversion takes from the chat template, which only the engine can try. */
export interface MessagesTraits {
  /** The template takes instructions at the start only: those among the messages are moved there. */
  readonly instructionsFirst: boolean;
  /** The effort that stands for `thinking: {"type": "disabled"}`. */
  readonly effortWithoutThinking: string;
}

/**
 * @param write a value as JSON text, with its numbers as the client wrote them
 * @returns undefined if the engine refuses the body, or if it can't be told what it makes of it
 */
export function chatOfMessages(
  body: JsonObject,
  traits: MessagesTraits,
  write: (value: Json) => string,
): JsonObject | undefined {
  const { messages, system, tools } = body;
  if (!isArray(messages)) return undefined;
  const instructions = [instructionsOf(system ?? [])];
  const converted: JsonObject[] = [];
  for (const message of messages) {
    if (!isObject(message)) return undefined;
    if (message['role'] === 'system') {
      const text = instructionsOf(asBlocks(message['content']));
      if (text === undefined) return undefined;
      if (traits.instructionsFirst) instructions.push(text);
      else if (text !== '') converted.push({ role: 'system', content: text });
      continue;
    }
    const made = convertMessage(message, write);
    if (made === undefined) return undefined;
    converted.push(...made);
  }
  if (instructions.includes(undefined)) return undefined;
  const first = instructions.join('');
  const kwargs = templateArguments(body, traits);
  const functions = convertTools(tools ?? null);
  if (functions === undefined) return undefined;
  return {
    ...(typeof body['model'] === 'string' && { model: body['model'] }),
    messages: first === '' ? converted : [{ role: 'system', content: first }, ...converted],
    ...(functions !== null && { tools: functions }),
    ...(kwargs !== null && { chat_template_kwargs: kwargs }),
  };
}

/**
 * The template's arguments for an effort: the client's own, except that an effort of a field of its own wins.
 * @param effort null if no field asks for one
 */
export function withEffort(own: Json | undefined, effort: Json): JsonObject | null {
  const given = isObject(own) ? own : null;
  if (effort === null) return given;
  return { enable_thinking: effort !== 'none', ...given, reasoning_effort: effort };
}

const attribution = 'x-anthropic-billing-header';

/** Joined without a separator; a block that begins with the line that one client changes in every request is left out. */
function instructionsOf(content: Json | undefined): string | undefined {
  if (typeof content === 'string') return content;
  if (!isArray(content)) return undefined;
  const texts = content.map((block) => {
    if (!isObject(block) || !blockTypes.has(text(block['type']))) return undefined;
    return block['type'] === 'text' ? text(block['text']) : '';
  });
  if (texts.includes(undefined)) return undefined;
  return texts.filter((said) => said?.startsWith(attribution) === false).join('');
}

/** Among the messages a text of its own is looked at as a block is; at the start it is not. */
function asBlocks(content: Json | undefined): Json | undefined {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Tools that change within a conversation are left out: what they come to is not told here. */
const blockTypes = new Set([
  ...['text', 'image', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'tool_reference'],
]);

function convertMessage(message: JsonObject, write: (value: Json) => string): JsonObject[] | undefined {
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant') return undefined;
  if (typeof content === 'string') return [{ role, content }];
  if (!isArray(content)) return undefined;
  const parts: JsonObject[] = [];
  const calls: JsonObject[] = [];
  const thoughts: string[] = [];
  const results: JsonObject[] = [];
  for (const block of content) {
    if (!isObject(block) || !blockTypes.has(text(block['type']))) return undefined;
    switch (text(block['type'])) {
      case 'text':
        if (text(block['text']) !== '') parts.push({ type: 'text', text: text(block['text']) });
        break;
      case 'image':
        if (isObject(block['source'])) parts.push(picturePart(block['source']));
        break;
      case 'thinking':
        if (typeof block['thinking'] === 'string') thoughts.push(block['thinking']);
        break;
      case 'tool_use': {
        const call = toolCall(block, write);
        if (call === undefined) return undefined;
        calls.push(call);
        break;
      }
      case 'tool_result': {
        const made = role === 'user' ? toolResult(block) : toldResult(block);
        if (made === undefined) return undefined;
        (role === 'user' ? results : parts).push(...made);
        break;
      }
    }
  }
  const [only] = parts;
  const said = parts.length === 1 && only?.['type'] === 'text' ? (only['text'] ?? '') : parts;
  // Only an answer may be without content; results of tools stand before what else a message holds.
  if (role === 'user' && parts.length === 0) return results;
  return [
    ...results,
    {
      role,
      ...(thoughts.length > 0 && { reasoning: thoughts.join('') }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(parts.length > 0 && { content: said }),
    },
  ];
}

/** What is written as the arguments' text is read by the engine again, so only its numbers matter. */
function toolCall(block: JsonObject, write: (value: Json) => string): JsonObject | undefined {
  const input = block['input'] ?? {};
  if (!isObject(input)) return undefined;
  return {
    // The engine makes an id of its own out of the time where there is none.
    id: text(block['id']),
    type: 'function',
    function: { name: text(block['name']), arguments: write(input) },
  };
}

function toolResult(block: JsonObject): JsonObject[] | undefined {
  const content = block['content'] ?? '';
  const id = text(block['tool_use_id']);
  if (typeof content === 'string') return [{ role: 'tool', tool_call_id: id, content }];
  if (!isArray(content)) return undefined;
  const items = content.filter(isObject);
  const texts = items.filter((item) => item['type'] === 'text').map((item) => text(item['text']));
  const names = items
    .filter((item) => item['type'] === 'tool_reference')
    .map((item) => text(item['tool_name']) || text(item['name']))
    .filter((name) => name !== '');
  const references = names.map((name) => ({ type: 'tool_reference', name }));
  const pictures = items.filter((item) => item['type'] === 'image').map(({ source }) => picturePart(source));
  return [
    { role: 'tool', tool_call_id: id, content: texts.join('\n') },
    ...(pictures.length > 0 ? [{ role: 'user', content: pictures }] : []),
    ...(references.length > 0 ? [{ role: 'tool', tool_call_id: id, content: references }] : []),
  ];
}

function picturePart(source: Json | undefined): JsonObject {
  const given = isObject(source) ? source : {};
  const inline = `data:${text(given['media_type'] ?? 'image/jpeg')};base64,${text(given['data'])}`;
  return { type: 'image_url', image_url: { url: given['type'] === 'url' ? text(given['url']) : inline } };
}

/** A result in an answer is told as text; a list of blocks as Python prints it, which is not followed. */
function toldResult(block: JsonObject): JsonObject[] | undefined {
  const content = block['content'] ?? '';
  if (typeof content !== 'string' && !(isArray(content) && content.length === 0)) return undefined;
  return [{ type: 'text', text: `Tool result: ${typeof content === 'string' ? content : ''}` }];
}

/** null for none; undefined if the engine refuses them. */
function convertTools(tools: Json): JsonObject[] | null | undefined {
  if (tools === null) return null;
  if (!isArray(tools)) return undefined;
  const functions: JsonObject[] = [];
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool['name'] !== 'string' || !isObject(tool['input_schema']))
      return undefined;
    const schema = tool['input_schema'];
    functions.push({
      type: 'function',
      function: {
        name: tool['name'],
        description: tool['description'] ?? null,
        parameters: schema['type'] === undefined ? { ...schema, type: 'object' } : schema,
        strict: tool['strict'] ?? null,
        defer_loading: tool['defer_loading'] ?? null,
      },
    });
  }
  return functions;
}

function templateArguments(body: JsonObject, traits: MessagesTraits): JsonObject | null {
  const { thinking, output_config: output } = body;
  const off = isObject(thinking) && thinking['type'] === 'disabled';
  const asked = isObject(output) ? (output['effort'] ?? null) : null;
  return withEffort(body['chat_template_kwargs'], off ? traits.effortWithoutThinking : asked);
}

/** A value of another type counts as not given. */
function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
