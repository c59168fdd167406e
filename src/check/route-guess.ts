/** Guesses from a body's shape which kind of route it is meant for. Looks at names of members, never at texts. */
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import type { RequestKind } from '../exchange/request/request-reader.ts';
import type { Json, JsonObject } from '../exchange/request/request.ts';

/** Undefined if nothing in the body says it. */
export function guessRoute(body: JsonObject): RequestKind | undefined {
  if (isArray(body['messages'])) return isAnthropic(body, body['messages']) ? 'messages' : 'chat';
  if (body['prompt'] !== undefined) return 'completion';
  return body['input'] === undefined ? undefined : 'responses';
}

/** Members that only Anthropic's Messages have; a body with none of them means the same on either route. */
function isAnthropic(body: JsonObject, messages: readonly Json[]): boolean {
  if (body['system'] !== undefined || body['anthropic_version'] !== undefined) return true;
  // A tool or a block in the wrong form does not make a conversation another's: who sends it so is to be told.
  if (messages.some(isChatMessage)) return false;
  const tools = isArray(body['tools']) ? body['tools'] : [];
  if (tools.some((tool) => isObject(tool) && tool['input_schema'] !== undefined)) return true;
  return messages.some((message) => {
    const content = isObject(message) ? message['content'] : undefined;
    return isArray(content) && content.some((part) => isObject(part) && isAnthropicPart(part['type']));
  });
}

/** Messages of the kinds that chat completions alone have. */
function isChatMessage(message: Json): boolean {
  if (!isObject(message)) return false;
  const { role, tool_calls: calls } = message;
  return role === 'system' || role === 'developer' || role === 'tool' || calls !== undefined;
}

function isAnthropicPart(type: Json | undefined): boolean {
  return type === 'tool_use' || type === 'tool_result' || type === 'thinking' || type === 'redacted_thinking';
}
