/** The queries of the API paths, read and checked. A filter that is misspelt is an error, not an empty list. */
import { z } from 'zod';

import { engineEvents } from '../exchange/engine-event.ts';
import { findingKinds, severities } from '../exchange/finding.ts';

import type { EventsFilter } from './events-ring.ts';
import type { FindingsFilter } from './findings-ring.ts';

const defaultLimit = 100;
const maxLimit = 1000;
const limit = z.coerce.number().int().min(1).max(maxLimit).default(defaultLimit);
const limitWords = `limit=1–${maxLimit} (default ${defaultLimit})`;

const findingsSchema = z.strictObject({
  kind: z.enum(findingKinds).exactOptional(),
  model: z.string().exactOptional(),
  severity: z.enum(severities).exactOptional(),
  limit,
});
const eventsSchema = z.strictObject({
  event: z.enum(engineEvents).exactOptional(),
  model: z.string().exactOptional(),
  limit,
});
const sessionsSchema = z.strictObject({ limit });

export type Query<Value> =
  { readonly valid: true; readonly value: Value } | { readonly valid: false; readonly detail: string };

/** @param query the parsed query string of `/api/findings`. */
export function readFindingsQuery(query: unknown): Query<FindingsFilter> {
  const kinds = findingKinds.join('|');
  const allowed = `kind=${kinds}, model=<name>, severity=${severities.join('|')}, ${limitWords}`;
  return read(findingsSchema, query, allowed);
}

/** @param query the parsed query string of `/api/events`. */
export function readEventsQuery(query: unknown): Query<EventsFilter> {
  return read(eventsSchema, query, `event=${engineEvents.join('|')}, model=<name>, ${limitWords}`);
}

/** @param query the parsed query string of `/api/sessions`. */
export function readSessionsQuery(query: unknown): Query<{ readonly limit: number }> {
  return read(sessionsSchema, query, limitWords);
}

function read<Value>(schema: z.ZodType<Value>, query: unknown, allowed: string): Query<Value> {
  const parsed = schema.safeParse(query);
  if (parsed.success) return { valid: true, value: parsed.data };
  const wrong = parsed.error.issues.map((issue) => {
    return issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.join('.');
  });
  return { valid: false, detail: `Not understood: ${[...new Set(wrong)].join(', ')}; allowed: ${allowed}.` };
}
