// What two equal requests have in common in their replies.
import type { Answer } from './exchanges.ts';

const passing = new Set([
  'timings',
  'id_slot',
  'id',
  'created',
  'tokens_cached',
  'usage',
  'generation_settings',
]);

/** Errors wholly, replies without what time and slot make of them. */
export function lasting({ status, text }: Answer): unknown {
  if (status !== 200) return { status, text };
  const json = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return { status, json: json.filter(([name]) => !passing.has(name)) };
}
