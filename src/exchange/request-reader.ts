/**
 * From a generation body to a typed request. A body that the engine would refuse is unreadable, so that the engine
 * gives its own error; nothing is coerced, repaired or given a default that the engine does not give.
 */
import { isArray, isObject, readBody } from './body-reader.ts';
import { readRawPrompts } from './raw-prompt.ts';
import type { ChatMessage, GenerationRequest, Json, JsonObject, RequestReading } from './request.ts';

/** The two body shapes that are read. */
export type RequestKind = GenerationRequest['kind'];

/** Content parts that put something else than text into the prompt. */
const mediaParts = new Set([
  'audio',
  'audio_url',
  'image',
  'image_embeds',
  'image_url',
  'input_audio',
  'input_image',
  'input_video',
  'video',
  'video_url',
]);

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
  const maxTokens = readMaxTokens(json);
  const common = {
    json,
    body,
    stream: json['stream'] === true,
    choices: readChoices(json),
    ...(typeof model === 'string' ? { model } : {}),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  if (kind === 'completion') {
    const prompts = readRawPrompts(json['prompt']);
    return prompts === undefined ? wrongShape : { readable: true, request: { ...common, kind, prompts } };
  }
  const messages = readMessages(json['messages']);
  if (messages === undefined) return wrongShape;
  const tools = isArray(json['tools']) ? json['tools'] : [];
  return {
    readable: true,
    request: { ...common, kind, messages, tools, hasMedia: messages.some(holdsMedia) },
  };
}

const wrongShape: RequestReading = { readable: false, reason: 'wrong-shape' };

function readMessages(value: Json | undefined): ChatMessage[] | undefined {
  if (!isArray(value) || value.length === 0) return undefined;
  const messages: ChatMessage[] = [];
  for (const message of value) {
    if (!isObject(message) || typeof message['role'] !== 'string') return undefined;
    messages.push({ role: message['role'], value: message });
  }
  return messages;
}

function holdsMedia(message: ChatMessage): boolean {
  const content = message.value['content'];
  if (!isArray(content)) return false;
  return content.some(
    (part) => isObject(part) && typeof part['type'] === 'string' && mediaParts.has(part['type']),
  );
}

/** A value that is not a positive whole number is refused by the engine or means one; neither changes a prompt. */
function readChoices(json: JsonObject): number {
  const given = json['n_cmpl'] ?? json['n'];
  return typeof given === 'number' && Number.isInteger(given) && given > 0 ? given : 1;
}

/** The first of the three names that is present and not null decides, also if it means "no limit" (-1). */
function readMaxTokens(json: JsonObject): number | undefined {
  const given = json['n_predict'] ?? json['max_completion_tokens'] ?? json['max_tokens'];
  return typeof given === 'number' && Number.isInteger(given) && given >= 0 ? given : undefined;
}
