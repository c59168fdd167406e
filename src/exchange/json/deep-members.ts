/**
 * Engines read JSON of any depth, while whatever walks a request here recurses. So members that bear nothing of the
 * prompt are left out where they are too deep: with one of them a request must not pass unread. Does not recurse.
 */
import type { Json, JsonObject } from '../request/request.ts';

/** Nesting that everything which reads a request can follow. */
export const maxDepth = 512;

/** Members that can reach the prompt, in any dialect: without one of these a request would be another. */
const bearing = new Set([
  'chat_template_kwargs',
  'documents',
  'input',
  'instructions',
  'json_schema',
  'messages',
  'options',
  'prompt',
  'reasoning',
  'response_format',
  'system',
  'text',
  'thinking',
  'tool_choice',
  'tools',
]);

/**
 * The object without the members that make it deeper than `limit`; undefined if the prompt is in one of them.
 * @param limit levels of arrays and objects, the outermost included
 */
export function withoutDeepMembers(json: JsonObject, limit = maxDepth): JsonObject | undefined {
  const members = Object.entries(json);
  const kept = members.filter(([, value]) => !isDeeper(value, limit - 1));
  if (kept.length === members.length) return json;
  const names = new Set(kept.map(([name]) => name));
  return members.some(([name]) => bearing.has(name) && !names.has(name))
    ? undefined
    : Object.fromEntries(kept);
}

function isDeeper(json: Json, limit: number): boolean {
  let level = [json].filter(isNested);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === limit) return true;
    level = level.flatMap((value) => Object.values(value).filter(isNested));
  }
  return false;
}

function isNested(value: Json): value is readonly Json[] | JsonObject {
  return typeof value === 'object' && value !== null;
}
