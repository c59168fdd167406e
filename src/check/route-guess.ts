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
  const tools = isArray(body['tools']) ? body['tools'] : [];
  if (tools.some((tool) => isObject(tool) && tool['input_schema'] !== undefined)) return true;
  return messages.some((message) => {
    const content = isObject(message) ? message['content'] : undefined;
    return isArray(content) && content.some((part) => isObject(part) && isAnthropicPart(part['type']));
  });
}

function isAnthropicPart(type: Json | undefined): boolean {
  return type === 'tool_use' || type === 'tool_result' || type === 'thinking' || type === 'redacted_thinking';
}
