/** The query of `/api/findings`, read and checked. A filter that is misspelt is an error, not an empty list. */
import { z } from 'zod';

import { findingKinds, severities } from '../exchange/finding.ts';

import type { FindingsFilter } from './findings-ring.ts';

const defaultLimit = 100;
const maxLimit = 1000;

const schema = z.strictObject({
  kind: z.enum(findingKinds).exactOptional(),
  model: z.string().exactOptional(),
  severity: z.enum(severities).exactOptional(),
  limit: z.coerce.number().int().min(1).max(maxLimit).default(defaultLimit),
});

const allowed =
  `allowed: kind=${findingKinds.join('|')}, model=<name>, severity=${severities.join('|')}, ` +
  `limit=1–${maxLimit} (default ${defaultLimit})`;

export type FindingsQuery =
  | { readonly valid: true; readonly filter: FindingsFilter }
  | { readonly valid: false; readonly detail: string };

/** @param query the parsed query string. */
export function readFindingsQuery(query: unknown): FindingsQuery {
  const parsed = schema.safeParse(query);
  if (parsed.success) return { valid: true, filter: parsed.data };
  const wrong = parsed.error.issues.map((issue) => {
    return issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.join('.');
  });
  return { valid: false, detail: `Not understood: ${[...new Set(wrong)].join(', ')}; ${allowed}.` };
}
