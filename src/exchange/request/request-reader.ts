/**
 * From a generation body to a typed request. A body that the engine would refuse is unreadable, so that the engine
 * gives its own error; nothing is coerced, repaired or given a default that the engine does not give.
 */
import { isArray, isObject, readBody } from '../json/body-reader.ts';
import { countMedia } from './media-parts.ts';
import { readRawPrompts } from './raw-prompt.ts';
import { readMessagesConversation } from './messages-request.ts';
import type { ChatDialect, ChatMessage, Json, JsonObject, RequestReading } from './request.ts';
import { readResponsesConversation } from './responses-request.ts';
import type { RouteKind } from './route.ts';

/** The kinds of routes whose bodies are read. */
export const readableKinds = [
  'chat',
  'completion',
  'messages',
  'responses',
] as const satisfies readonly RouteKind[];
export type RequestKind = (typeof readableKinds)[number];

/** How each kind of conversation is sent. */
const dialects = {
  chat: { dialect: 'openai', read: (json) => readMessages(json['messages']) },
  messages: { dialect: 'anthropic', read: readMessagesConversation },
  responses: { dialect: 'responses', read: readResponsesConversation },
} as const satisfies Record<
  Exclude<RequestKind, 'completion'>,
  { readonly dialect: ChatDialect; read(json: JsonObject): ChatMessage[] | undefined }
>;

/** Reads a body whole. Never throws; blocks for about 3 ms per MiB. */
export function readRequest(body: Buffer, kind: RequestKind): RequestReading {
  const reading = readBody(body);
  return reading.readable ? shapeRequest(body, reading.json, kind) : reading;
}

/**
 * The typed request of a body that is already parsed. Shares `json`'s parts and copies none.
 * The only reason it can give is `wrong-shape`.
 */
export function shapeRequest(body: Buffer, json: JsonObject, kind: RequestKind): RequestReading {
  const model = json['model'];
  const common = {
    json,
    body,
    stream: json['stream'] === true,
    // Anthropic's messages know no number of answers.
    choices: kind === 'messages' ? 1 : readChoices(json),
    ...(typeof model === 'string' ? { model } : {}),
    ...readMaxTokens(json, kind),
  };
  if (kind === 'completion') {
    const prompts = readRawPrompts(json['prompt']);
    return prompts === undefined ? wrongShape : { readable: true, request: { ...common, kind, prompts } };
  }
  const { dialect, read } = dialects[kind];
  const messages = read(json);
  if (messages === undefined) return wrongShape;
  const tools = isArray(json['tools']) ? json['tools'] : [];
  return {
    readable: true,
    request: {
      ...common,
      kind: 'chat',
      dialect,
      messages,
      tools,
      hasMedia: messages.some(({ value }) => countMedia(value['content']) > 0),
    },
  };
}

const wrongShape: RequestReading = { readable: false, reason: 'wrong-shape' };

/** A list of none is a chat, too: llama-server renders the generation prompt alone. */
function readMessages(value: Json | undefined): ChatMessage[] | undefined {
  if (!isArray(value)) return undefined;
  const messages: ChatMessage[] = [];
  for (const [index, message] of value.entries()) {
    if (!isObject(message) || typeof message['role'] !== 'string') return undefined;
    const path = ['messages', index];
    messages.push({ role: message['role'], value: message, path, contentPath: [...path, 'content'] });
  }
  return messages;
}

/** A value that is not a positive whole number is refused by the engine or means one; neither changes a prompt. */
function readChoices(json: JsonObject): number {
  const given = json['n_cmpl'] ?? json['n'];
  return typeof given === 'number' && Number.isInteger(given) && given > 0 ? given : 1;
}

/** The first name that is present and not null decides, also if it means "no limit" (-1). */
const limitFields: Readonly<Record<RequestKind, readonly string[]>> = {
  chat: ['n_predict', 'max_completion_tokens', 'max_tokens'],
  completion: ['n_predict', 'max_completion_tokens', 'max_tokens'],
  messages: ['max_tokens'],
  responses: ['n_predict', 'max_completion_tokens', 'max_output_tokens', 'max_tokens'],
};

function readMaxTokens(
  json: JsonObject,
  kind: RequestKind,
): { readonly maxTokens?: number; readonly maxTokensField?: string } {
  const maxTokensField = limitFields[kind].find((field) => (json[field] ?? null) !== null);
  const maxTokens = maxTokensField === undefined ? undefined : json[maxTokensField];
  if (maxTokensField === undefined || typeof maxTokens !== 'number') return {};
  return Number.isInteger(maxTokens) && maxTokens >= 0 ? { maxTokens, maxTokensField } : {};
}
