/** The typed request: what a generation body says, read from the bytes and never written back. */

/** A JSON value as parsed. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Keys and indexes from the body's root to a value. */
export type JsonPath = readonly (string | number)[];

/** One prompt of a raw route, in one of the forms that engines accept (engine-protocols, section 2.2). */
export type RawPrompt =
  | { readonly form: 'text'; readonly text: string; readonly path: JsonPath }
  | {
      readonly form: 'ids';
      readonly ids: readonly number[];
      readonly path: JsonPath;
      /** Numbers of more than 32 bits were cast, as nlohmann's `get<int32_t>()` does: 2^32 + 2 is the id 2. */
      readonly cast?: true;
    }
  | { readonly form: 'mixed'; readonly items: readonly (string | number)[]; readonly path: JsonPath }
  | { readonly form: 'media'; readonly path: JsonPath };

/** One turn of a conversation, or one part of its instructions, whichever dialect it came in. */
export interface ChatMessage {
  /** `system` also for instructions that stand outside the messages; `tool` for results of tools alone. */
  readonly role: string;
  /** The client's own object, or one made for a text that stands by itself; its text is in `content`. */
  readonly value: JsonObject;
  /** Where it stands in the body, e.g. `messages[2]`, `system[0].text`, `instructions`, `input[1]`. */
  readonly path: JsonPath;
  /** Where its content stands in the body. */
  readonly contentPath: JsonPath;
}

/** Whose messages conversations are made of, in every protocol that is spoken today. */
export const protocolRoles: ReadonlySet<string> = new Set([
  'system',
  'developer',
  'user',
  'assistant',
  'tool',
]);

/** The shapes in which a conversation is sent: chat completions, Anthropic's Messages, OpenAI's Responses. */
export const chatDialects = ['openai', 'anthropic', 'responses'] as const;
export type ChatDialect = (typeof chatDialects)[number];

interface RequestCommon {
  /** The body as parsed; the bytes themselves are `body`. */
  readonly json: JsonObject;
  readonly body: Buffer;
  /** The `model` that the client names; absent if it names none. */
  readonly model?: string;
  readonly stream: boolean;
  /** How many answers per prompt (`n`), at least 1. */
  readonly choices: number;
  /** The client's own explicit limit on generated tokens; absent if it set none. */
  readonly maxTokens?: number;
  /** The field that sets it; absent with it. */
  readonly maxTokensField?: string;
}

export interface ChatRequest extends RequestCommon {
  readonly kind: 'chat';
  readonly dialect: ChatDialect;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Json[];
  /** True if a part of a message is an image, audio or video: the engine's token counts then differ from ours. */
  readonly hasMedia: boolean;
}

export interface CompletionRequest extends RequestCommon {
  readonly kind: 'completion';
  /** In the order of the engine's prompt indexes; never empty. */
  readonly prompts: readonly RawPrompt[];
}

export type GenerationRequest = ChatRequest | CompletionRequest;

/** Why a body can't be read. Such a request is forwarded as it is, so that the engine gives its own error. */
export type UnreadableReason =
  | 'not-json'
  | 'not-utf8'
  | 'lone-surrogate'
  | 'too-deep'
  | 'too-many-values'
  | 'too-much-text'
  | 'wrong-shape';

export type RequestReading =
  | { readonly readable: true; readonly request: GenerationRequest }
  | { readonly readable: false; readonly reason: UnreadableReason };
