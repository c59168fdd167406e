/**
 * Digests of everything in a request that can reach the prompt, so that two turns can be compared after their text is
 * gone. Keyed; reads the request and keeps none of it.
 */
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { reasoningMembers } from '../exchange/written/prompt-parts.ts';
import type { ChatMessage, ChatRequest, Json, JsonObject } from '../exchange/request/request.ts';
import type { PartDigest, RequestDigest } from '../exchange/session-match.ts';
import {
  instructs,
  laterInstructions,
  systemParts,
  type SeenPrompt,
} from '../exchange/request/system-text.ts';
import type { KnownTokens } from '../exchange/token-read.ts';
import { keyedDigest } from '../tokens/digest.ts';
import { writeJson, type Written } from './canonical-json.ts';
import { LineDigester } from './line-digests.ts';
import { rawTurns } from './raw-turns.ts';

/** Fields of a chat body, beside messages and tools, that a template or an engine can turn into prompt text. */
const optionFields = [
  'add_generation_prompt',
  'chat_template',
  'chat_template_kwargs',
  'continue_final_message',
  'documents',
  'enable_thinking',
  'json_schema',
  'parallel_tool_calls',
  'reasoning',
  'reasoning_effort',
  'response_format',
  'tool_choice',
] as const;

export class RequestDigester {
  readonly #key: Uint8Array;
  readonly #lines: LineDigester;

  /** @param key random per process, at least 4 bytes. */
  constructor(key: Uint8Array) {
    this.#key = key;
    this.#lines = new LineDigester(key);
  }

  /**
   * A trailing assistant turn is left out: it is the reply's beginning, and comes back longer with the next turn.
   * @param seen what is known of the prompt that the engine made of the request
   */
  chat(request: ChatRequest, seen?: SeenPrompt): RequestDigest {
    const turns = request.messages.filter((message) => !instructs(message));
    while (turns.at(-1)?.role === 'assistant') turns.pop();
    const system = systemParts(request, seen).map(({ text }) => text);
    const later = laterInstructions(request).map(({ turnsBefore }) => turnsBefore);
    const options = optionFields.flatMap((field) => {
      const value = request.json[field];
      return value === undefined ? [] : [`${field}=${writeJson(value).byValue}`];
    });
    return {
      messages: turns.map((message) => this.#message(message)),
      roles: turns.map(({ role }) => role),
      ...(system.length > 0 && { system: this.#lines.digest(system.join('\n')) }),
      ...(later.length > 0 && { later }),
      tools: request.tools.map((tool) => this.#part(tool, tool)),
      options: keyedDigest(this.#key, 'options', ...options),
    };
  }

  /** Undefined if the text is not known, or no role marker in it shows where its turns are. */
  raw(tokens: KnownTokens, facts: ModelFacts): RequestDigest | undefined {
    const turns = rawTurns(tokens, facts);
    if (turns === undefined) return undefined;
    return {
      messages: turns.turns.map(({ segmentKeys }) => {
        const value = keyedDigest(this.#key, 'raw', ...segmentKeys);
        return { value, bytes: value };
      }),
      roles: turns.turns.map(({ role }) => role),
      ...(turns.head !== '' && { system: this.#lines.digest(turns.head) }),
      tools: [],
      options: '',
    };
  }

  /** Of `cache_salt`, which is a secret of the client's. */
  salt(salt: string): string {
    return keyedDigest(this.#key, 'salt', salt);
  }

  #message({ value }: ChatMessage): PartDigest {
    const part = this.#part(withPlainContent(value), value);
    const spoken = withoutReasoning(value);
    if (spoken === undefined) return part;
    return { ...part, spoken: keyedDigest(this.#key, 'part', writeJson(withPlainContent(spoken)).byValue) };
  }

  #part(value: Json, sent: Json): PartDigest {
    const { byValue, asSent } = value === sent ? writeJson(value) : unlike(value, sent);
    const digest = keyedDigest(this.#key, 'part', byValue);
    return { value: digest, bytes: byValue === asSent ? digest : keyedDigest(this.#key, 'part', asSent) };
  }
}

function unlike(value: Json, sent: Json): Written {
  return { byValue: writeJson(value).byValue, asSent: writeJson(sent).asSent };
}

const reasoningTypes = new Set<Json>(['thinking', 'redacted_thinking', 'reasoning']);

function isReasoning(part: Json): boolean {
  return isObject(part) && reasoningTypes.has(part['type'] ?? null);
}

/** What is left of a message without its reasoning; undefined if it has none. */
function withoutReasoning(message: JsonObject): JsonObject | undefined {
  const { content } = message;
  const inContent = isArray(content) && content.some(isReasoning);
  if (!inContent && reasoningMembers.every((member) => message[member] === undefined)) return undefined;
  const spoken = new Map(Object.entries<Json>(message));
  for (const member of reasoningMembers) spoken.delete(member);
  if (inContent)
    spoken.set(
      'content',
      content.filter((part) => !isReasoning(part)),
    );
  return Object.fromEntries(spoken);
}

const textParts = new Set(['text', 'input_text', 'output_text']);

/** Content of one text part counts as the text itself: clients change between the two forms, templates don't care. */
function withPlainContent(message: JsonObject): JsonObject {
  const { content } = message;
  if (!isArray(content) || content.length !== 1) return message;
  const [part] = content;
  if (!isObject(part) || typeof part['text'] !== 'string') return message;
  if (typeof part['type'] !== 'string' || !textParts.has(part['type'])) return message;
  return { ...message, content: part['text'] };
}
