// From the body of a chat request to the prompt text, with llama-server's checks, normalisations and error texts.
// Unknown fields are ignored. Must not tokenize: the text goes through the same path as any other prompt.
import { booleanOr, isObject, type Body } from './body.ts';
import { renderChatTemplate, type TemplateMessage } from './chat-template.ts';
import { EngineError, invalidRequest } from './engine-error.ts';
import type { DemoTokenizer } from './tokenizer.ts';

const mediaParts = ['image_url', 'input_audio', 'input_video', 'video_url'];

function partText(part: unknown): string {
  const type = isObject(part) ? part['type'] : undefined;
  if (isObject(part) && type === 'text' && typeof part['text'] === 'string') return part['text'];
  if (typeof type === 'string' && mediaParts.includes(type)) {
    throw new EngineError('server_error', `${type} is not supported - hint: the demo engine reads text only`);
  }
  throw invalidRequest('unsupported content[].type');
}

function contentText(content: unknown): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(partText).join('\n');
  throw invalidRequest(`Invalid 'content' type: expected string or array, got ${JSON.stringify(content)}`);
}

function readMessage(message: unknown): TemplateMessage {
  if (!isObject(message))
    throw invalidRequest(`Expected 'message' to be an object, got ${JSON.stringify(message)}`);
  const role = message['role'];
  if (typeof role !== 'string') throw invalidRequest(`Missing 'role' in message: ${JSON.stringify(message)}`);
  const reasoning = message['reasoning_content'];
  const calls = message['tool_calls'];
  return {
    role: role === 'developer' ? 'system' : role,
    content: contentText(message['content']),
    ...(typeof reasoning === 'string' && { reasoning_content: reasoning }),
    ...(Array.isArray(calls) && { tool_calls: calls.map(readToolCall) }),
  };
}

function readToolCall(call: unknown): unknown {
  const fn = isObject(call) ? call['function'] : undefined;
  if (!isObject(fn) || typeof fn['name'] !== 'string') {
    throw invalidRequest(`Missing tool call name: ${JSON.stringify(call)}`);
  }
  return { type: 'function', function: { name: fn['name'], arguments: fn['arguments'] ?? '{}' } };
}

/** Keeps the fields that the engine knows; what a client adds (`strict`, `return`) never reaches the template. */
function readTool(tool: unknown): unknown {
  if (!isObject(tool) || tool['type'] !== 'function' || !isObject(tool['function'])) {
    throw invalidRequest(
      `Unsupported tool, expected {"type": "function", "function": …}, got ${JSON.stringify(tool)}`,
    );
  }
  const { name, description, parameters } = tool['function'];
  return {
    type: 'function',
    function: { name, description: description ?? '', parameters: parameters ?? {} },
  };
}

function readTools(tools: unknown): unknown[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools))
    throw invalidRequest(`Expected 'tools' to be an array, got ${JSON.stringify(tools)}`);
  return tools.map(readTool);
}

function readExtra(body: Body): Record<string, unknown> {
  const extra = isObject(body['chat_template_kwargs']) ? { ...body['chat_template_kwargs'] } : {};
  if (body['reasoning_effort'] === 'none') extra['enable_thinking'] = false;
  const thinking = extra['enable_thinking'];
  if (thinking !== undefined && typeof thinking !== 'boolean') {
    throw invalidRequest(`invalid type for "enable_thinking" (expected boolean, got ${typeof thinking})`);
  }
  return extra;
}

/** Takes a trailing assistant message out: the reply continues it (llama-server's `--prefill-assistant`). */
function splitPrefill(
  messages: readonly TemplateMessage[],
  body: Body,
): [readonly TemplateMessage[], string | undefined] {
  const asked = body['continue_final_message'];
  const continues = asked === true || typeof asked === 'string';
  if (continues && booleanOr(body['add_generation_prompt'], false)) {
    throw invalidRequest('Cannot set both add_generation_prompt and continue_final_message to true.');
  }
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return [messages, undefined];
  if (messages.at(-2)?.role === 'assistant') {
    throw invalidRequest('Cannot have 2 or more assistant messages at the end of the list.');
  }
  if (last.tool_calls !== undefined && last.tool_calls.length > 0) {
    throw invalidRequest('Cannot continue an assistant message that has tool calls.');
  }
  return [messages.slice(0, -1), last.content];
}

/**
 * The prompt of a chat body. The template prints BOS and the tokenizer adds one, so exactly one leading BOS text is cut.
 * @throws EngineError 400 for a body that can't be read, 500 if the template refuses the conversation.
 */
export function chatPrompt(body: Body, tokenizer: DemoTokenizer): string {
  const given = body['messages'];
  if (given === undefined) throw invalidRequest("'messages' is required");
  if (!Array.isArray(given)) throw invalidRequest("Expected 'messages' to be an array");
  const tools = readTools(body['tools']);
  const [messages, prefill] = splitPrefill(given.map(readMessage), body);
  const extra = readExtra(body);
  const { bos, eos } = tokenizer;
  let text: string;
  try {
    text = renderChatTemplate(
      {
        messages,
        ...(tools.length > 0 && { tools }),
        add_generation_prompt: prefill !== undefined || booleanOr(body['add_generation_prompt'], true),
        // A continued message stands as the history would write it, without the empty think block.
        extra: prefill === undefined ? extra : { ...extra, enable_thinking: true },
      },
      bos.text,
      eos.text,
    );
  } catch (cause) {
    throw new EngineError(
      'server_error',
      cause instanceof Error ? cause.message : 'the chat template failed',
    );
  }
  const cut = text.startsWith(bos.text) ? text.slice(bos.text.length) : text;
  return cut + (prefill ?? '');
}
