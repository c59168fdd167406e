/** Guesses from a body's shape which kind of route it is meant for. Looks at names of members, never at texts. */
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import type { RequestKind } from '../exchange/request/request-reader.ts';
import type { Json, JsonObject } from '../exchange/request/request.ts';

export interface RouteGuess {
  readonly kind: RequestKind;
  /** Nothing but the form of its tools says that it is not a chat, in which that form would be a mistake. */
  readonly byToolsAlone?: true;
}

/** Undefined if nothing in the body says it. */
export function guessRoute(body: JsonObject): RouteGuess | undefined {
  const { messages } = body;
  if (isArray(messages)) return guessConversation(body, messages);
  if (body['prompt'] !== undefined) return { kind: 'completion' };
  return body['input'] === undefined ? undefined : { kind: 'responses' };
}

/** Members that Anthropic's Messages have and chat completions have not. */
const anthropicMembers = ['system', 'anthropic_version', 'stop_sequences'];
/** The other way round: https://platform.openai.com/docs/api-reference/chat/create */
const chatMembers = [
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'response_format',
  'seed',
  'stop',
  'stream_options',
];

/** A body that has nothing of either dialect alone means the same on either route. */
function guessConversation(body: JsonObject, messages: readonly Json[]): RouteGuess {
  if (hasAny(body, anthropicMembers)) return { kind: 'messages' };
  const tools = isArray(body['tools']) ? body['tools'].filter(isObject) : [];
  const parts = messages.flatMap((message) =>
    isObject(message) && isArray(message['content']) ? message['content'].filter(isObject) : [],
  );
  const choice = body['tool_choice'];
  // A tool or a block in the wrong form does not make a conversation another's: who sends it so is to be told.
  const isChat =
    messages.some(isChatMessage) ||
    hasAny(body, chatMembers) ||
    typeof choice === 'string' ||
    tools.some((tool) => tool['type'] === 'function' || isObject(tool['function'])) ||
    parts.some(({ type }) => type === 'image_url' || type === 'input_audio');
  if (isChat) return { kind: 'chat' };
  const isAnthropic =
    parts.some(isAnthropicPart) || (isObject(choice) && anthropicChoices.includes(choice['type']));
  if (isAnthropic) return { kind: 'messages' };
  const hasItsTools = tools.some((tool) => tool['input_schema'] !== undefined);
  return hasItsTools ? { kind: 'messages', byToolsAlone: true } : { kind: 'chat' };
}

function hasAny(body: JsonObject, names: readonly string[]): boolean {
  return names.some((name) => (body[name] ?? null) !== null);
}

/** Messages of the kinds that chat completions alone have. */
function isChatMessage(message: Json): boolean {
  if (!isObject(message)) return false;
  const { role, tool_calls: calls } = message;
  return role === 'system' || role === 'developer' || role === 'tool' || calls !== undefined;
}

const anthropicChoices: readonly (Json | undefined)[] = ['auto', 'any', 'none', 'tool'];
const anthropicParts: readonly (Json | undefined)[] = [
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
];

function isAnthropicPart({ type, source }: JsonObject): boolean {
  return anthropicParts.includes(type) || (type === 'image' && isObject(source));
}
