/** The calls of tools that a message makes, each with its place in the body, whichever dialect it came in. */
import { isArray, isObject, parseJson } from '../json/body-reader.ts';
import type { ChatMessage, Json, JsonPath } from '../request/request.ts';

export interface CallPart {
  readonly name: string;
  /** The arguments as parsed, where they are JSON; else their text. */
  readonly arguments: Json;
  /** Their text, where they were sent as one. */
  readonly sent?: string;
  readonly path: JsonPath;
  /** Where they stand below the path. */
  readonly argumentsPath: JsonPath;
  /** True for a call that stands where the protocol once had it. */
  readonly unread: boolean;
}

const noCalls: readonly CallPart[] = [];

/** Calls of tools that the message makes, wherever its protocol has them. */
export function callsOf({ value, path, contentPath }: ChatMessage): readonly CallPart[] {
  const { tool_calls: calls, function_call: legacy, content, type } = value;
  // Most messages hold none.
  if (!isArray(calls) && !isArray(content) && legacy === undefined && type === undefined) return noCalls;
  const found: CallPart[] = [];
  if (isArray(calls)) {
    for (const [index, call] of calls.entries()) {
      const inner = isObject(call) ? call['function'] : undefined;
      const [own, below] = isObject(inner) ? [inner, inFunction] : [call, inCall];
      addCall(found, own, below, [...path, 'tool_calls', index]);
    }
  }
  if (legacy !== undefined) addCall(found, legacy, inCall, [...path, 'function_call'], true);
  if (type === 'function_call') addCall(found, value, inCall, path);
  if (isArray(content)) {
    for (const [index, part] of content.entries()) {
      if (isObject(part) && part['type'] === 'tool_use')
        addCall(found, part, ['input'], [...contentPath, index]);
    }
  }
  return found;
}

const inCall = ['arguments'] as const;
const inFunction = ['function', 'arguments'] as const;

function addCall(
  found: CallPart[],
  call: Json | undefined,
  argumentsPath: readonly string[],
  path: JsonPath,
  unread = false,
): void {
  if (!isObject(call) || typeof call['name'] !== 'string' || call['name'] === '') return;
  const given = call[argumentsPath.at(-1) ?? ''];
  found.push({
    name: call['name'],
    arguments: argumentsOf(given),
    ...(typeof given === 'string' && { sent: given }),
    path,
    argumentsPath,
    unread,
  });
}

function argumentsOf(given: Json | undefined): Json {
  if (typeof given !== 'string') return given ?? null;
  const parsed = parseJson(given);
  return parsed === undefined ? given : parsed;
}
