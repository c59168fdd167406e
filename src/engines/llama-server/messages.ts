/**
 * llama-server's conversion of a `/v1/messages` body to a chat body (engine-protocols, section 2.2), for its oracle:
 * `/apply-template` knows chat bodies only. Keeps what can reach the prompt; parts that the engine drops are dropped.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';

/**
 * @param dump writes a value as the engine's own JSON library does
 * @returns undefined if the engine refuses the body
 */
export function chatOfMessages(body: JsonObject, dump: (value: Json) => string): JsonObject | undefined {
  const { messages, tools } = body;
  if (messages === undefined) return undefined;
  const toolChoice = isObject(body['tool_choice']) ? choices[text(body['tool_choice']['type'])] : undefined;
  return {
    messages: [...systemMessage(body['system']), ...(isArray(messages) ? convertAll(messages, dump) : [])],
    ...(isArray(tools) && { tools: tools.map(convertTool) }),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    ...(body['chat_template_kwargs'] !== undefined && { chat_template_kwargs: body['chat_template_kwargs'] }),
  };
}

const choices: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', tool: 'required' };

function systemMessage(system: Json | undefined): JsonObject[] {
  if (system === undefined || system === null) return [];
  const blocks = isArray(system) ? system.filter((block) => typeOf(block) === 'text') : [];
  const texts = typeof system === 'string' ? [system] : blocks.map((block) => textOf(block, 'text'));
  return [{ role: 'system', content: texts.map(steadyAttribution).join('') }];
}

const attribution = 'x-anthropic-billing-header:';
const hashBytes = 5;

/** The engine blanks the hash that one client writes anew into every request, so that it breaks no prefix. */
function steadyAttribution(given: string): string {
  if (!given.startsWith(attribution)) return given;
  const start = given.indexOf('cch=', attribution.length) + 'cch='.length;
  if (start < 'cch='.length) return given;
  // The engine counts bytes.
  const rest = Buffer.from(given.slice(start));
  if (rest[hashBytes] !== 0x3b) return given;
  return `${given.slice(0, start)}${'f'.repeat(hashBytes)}${rest.toString('utf8', hashBytes)}`;
}

function convertAll(messages: readonly Json[], dump: (value: Json) => string): Json[] {
  return messages.flatMap((message): Json[] => {
    if (!isObject(message)) return [message];
    const { content } = message;
    if (content === undefined) return message['role'] === 'assistant' ? [] : [message];
    return isArray(content) ? convertBlocks(text(message['role']), content, dump) : [message];
  });
}

/** Results of tools become messages of their own, after what else the message holds. */
function convertBlocks(role: string, blocks: readonly Json[], dump: (value: Json) => string): JsonObject[] {
  const content: Json[] = [];
  const calls: JsonObject[] = [];
  const results: JsonObject[] = [];
  let reasoning = '';
  for (const block of blocks) {
    switch (typeOf(block)) {
      case 'text':
        content.push(block);
        break;
      case 'thinking':
        reasoning += textOf(block, 'thinking');
        break;
      case 'image':
        content.push(...imagePart(block));
        break;
      case 'tool_use':
        calls.push(toolCall(block, dump));
        break;
      case 'tool_result':
        results.push({
          role: 'tool',
          tool_call_id: textOf(block, 'tool_use_id'),
          content: resultContent(member(block, 'content')),
        });
        break;
    }
  }
  if (content.length === 0 && calls.length === 0 && reasoning === '') return results;
  const message = {
    role,
    content: content.length > 0 ? content : '',
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  };
  return [message, ...results];
}

function toolCall(block: Json, dump: (value: Json) => string): JsonObject {
  return {
    id: textOf(block, 'id'),
    type: 'function',
    function: { name: textOf(block, 'name'), arguments: dump(member(block, 'input') ?? {}) },
  };
}

/** Texts are joined to one, unless there is an image among them. */
function resultContent(content: Json | undefined): Json {
  if (typeof content === 'string') return content;
  if (!isArray(content)) return '';
  const parts = content.flatMap((part): Json[] => {
    if (typeOf(part) === 'text') return [{ type: 'text', text: textOf(part, 'text') }];
    return typeOf(part) === 'image' ? imagePart(part) : [];
  });
  if (content.some((part) => typeOf(part) === 'image')) return parts;
  return parts.map((part) => textOf(part, 'text')).join('');
}

/** [] for a source that the engine does not know. */
function imagePart(block: Json): JsonObject[] {
  const source = member(block, 'source');
  const url =
    typeOf(source) === 'base64'
      ? `data:${text(member(source, 'media_type') ?? 'image/jpeg')};base64,${textOf(source, 'data')}`
      : textOf(source, 'url');
  const known = ['base64', 'url'].includes(typeOf(source));
  return known ? [{ type: 'image_url', image_url: { url } }] : [];
}

function convertTool(tool: Json): JsonObject {
  const schema = isObject(tool) ? tool['input_schema'] : undefined;
  return {
    type: 'function',
    function: {
      name: textOf(tool, 'name'),
      description: textOf(tool, 'description'),
      parameters: schema ?? (schema === null ? null : {}),
    },
  };
}

function typeOf(value: Json | undefined): string {
  return textOf(value, 'type');
}

function textOf(value: Json | undefined, name: string): string {
  return text(member(value, name));
}

/** Undefined also for null: the engine takes both for "not given". */
function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? (value[name] ?? undefined) : undefined;
}

/** A value of another type counts as not given. */
function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
