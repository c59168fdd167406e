// From the body of a chat request to the prompt text, with llama-server's checks, normalisations and error texts.
// Unknown fields are ignored. Must not tokenize: the text goes through the same path as any other prompt.
import { booleanOr, isObject, type Body } from './body.ts';
import { renderChatTemplate, type TemplateMessage } from './chat-template.ts';
import { EngineError, invalidRequest } from './engine-error.ts';
import type { DemoTokenizer } from './tokenizer.ts';

const mediaParts = ['image_url', 'input_audio', 'input_video', 'video_url'];

/** 500, where llama-server fails on what it has accepted at first. */
function failedTo(task: string, reason: string): EngineError {
  return new EngineError('server_error', `Failed to parse ${task}: ${reason}`);
}

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
  throw invalidRequest("Expected 'content' to be a string or an array");
}

function readMessage(message: unknown): TemplateMessage {
  const { role, content, reasoning_content: reasoning, tool_calls: calls } = isObject(message) ? message : {};
  if (role === 'assistant') {
    if (content === undefined && calls === undefined) {
      throw invalidRequest("Assistant message must contain either 'content' or 'tool_calls'!");
    }
  } else if (content === undefined) {
    throw invalidRequest("All non-assistant messages must contain 'content'");
  }
  const text = contentText(content);
  if (typeof role !== 'string')
    throw failedTo('messages', `Missing 'role' in message: ${JSON.stringify(message)}`);
  return {
    role: role === 'developer' ? 'system' : role,
    content: text,
    ...(typeof reasoning === 'string' && { reasoning_content: reasoning }),
    ...(Array.isArray(calls) && { tool_calls: calls.map(readToolCall) }),
  };
}

/** Arguments that are JSON text are parsed, so the template writes them anew: the client's spaces and order are lost. */
function readArguments(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? {};
  try {
    return JSON.parse(given === '' ? '{}' : given);
  } catch (cause) {
    throw failedTo('tool call arguments as JSON', cause instanceof Error ? cause.message : 'unreadable');
  }
}

function readToolCall(call: unknown): unknown {
  const { type, function: called } = isObject(call) ? call : {};
  if (type === undefined) throw failedTo('messages', `Missing tool call type: ${JSON.stringify(call)}`);
  if (!isObject(called) || typeof called['name'] !== 'string') {
    throw failedTo('messages', `Missing tool call name: ${JSON.stringify(call)}`);
  }
  return {
    type: 'function',
    function: { name: called['name'], arguments: readArguments(called['arguments']) },
  };
}

/** Keeps the fields that the engine knows; what a client adds (`strict`, `return`) never reaches the template. */
function readTool(tool: unknown): unknown {
  if (!isObject(tool) || tool['type'] !== 'function' || !isObject(tool['function'])) {
    throw failedTo('tools', `Unsupported tool type: ${JSON.stringify(tool)}`);
  }
  const { name, description, parameters } = tool['function'];
  return {
    type: 'function',
    function: { name, description: description ?? '', parameters: parameters ?? {} },
  };
}

function readTools(tools: unknown): unknown[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) {
    throw failedTo('tools', `Expected 'tools' to be an array, got ${JSON.stringify(tools)}`);
  }
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

/** The messages that the template renders, and the text that the reply continues; undefined for a new turn. */
interface SplitMessages {
  readonly rendered: readonly TemplateMessage[];
  readonly continued: string | undefined;
}

/**
 * Takes out the message that the reply continues: a trailing one of the assistant, or the last one if the client asks.
 * llama-server puts the template's think block in front of it, with the message's reasoning or empty.
 */
function splitContinued(messages: readonly TemplateMessage[], body: Body): SplitMessages {
  const asked = body['continue_final_message'];
  const isAsked = asked === true || typeof asked === 'string';
  if (isAsked && booleanOr(body['add_generation_prompt'], true)) {
    throw invalidRequest('Cannot set both add_generation_prompt and continue_final_message to true.');
  }
  const last = messages.at(-1);
  if (last === undefined || (last.role !== 'assistant' && !isAsked))
    return { rendered: messages, continued: undefined };
  if (last.role === 'assistant' && messages.at(-2)?.role === 'assistant') {
    throw invalidRequest('Cannot have 2 or more assistant messages at the end of the list.');
  }
  if (last.tool_calls !== undefined && last.tool_calls.length > 0) {
    throw invalidRequest('Cannot continue an assistant message that contains tool calls.');
  }
  const think = `<think>\n${last.reasoning_content ?? ''}\n</think>\n\n`;
  return { rendered: messages.slice(0, -1), continued: think + last.content };
}

/**
 * The prompt of a chat body. The template prints BOS and the tokenizer adds one, so exactly one leading BOS text is cut.
 * @throws EngineError 400 or 500, as llama-server answers a body that it can't read or render.
 */
export function chatPrompt(body: Body, tokenizer: DemoTokenizer): string {
  const given = body['messages'];
  if (given === undefined) throw invalidRequest("'messages' is required");
  if (!Array.isArray(given)) throw invalidRequest("Expected 'messages' to be an array");
  const messages = given.map(readMessage);
  const tools = readTools(body['tools']);
  const { rendered, continued } = splitContinued(messages, body);
  const extra = readExtra(body);
  const { bos, eos } = tokenizer;
  let text: string;
  try {
    text = renderChatTemplate(
      {
        messages: rendered,
        ...(tools.length > 0 && { tools }),
        add_generation_prompt: continued !== undefined || booleanOr(body['add_generation_prompt'], true),
        // The think block of a continued message is part of what is continued.
        extra: continued === undefined ? extra : { ...extra, enable_thinking: true },
      },
      bos.text,
      eos.text,
    );
  } catch (cause) {
    throw invalidRequest(
      `Jinja Exception: ${cause instanceof Error ? cause.message : 'the chat template failed'}`,
    );
  }
  return (text.startsWith(bos.text) ? text.slice(bos.text.length) : text) + (continued ?? '');
}
