// Recorded conversions: for each body what the real engine's own rendering made of it, what the adapter asked it for that
// body, and what it answered. Recorded anew by `npm run record:vllm`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { followed, unfollowed, type ConversionCase } from './bodies.ts';

/** A question to `/tokenize`; no ids if it was refused. */
const asked = z.object({ body: z.string(), status: z.int(), ids: z.array(z.int()).nullable() });

const conversion = z.object({
  kind: z.enum(['messages', 'responses']),
  name: z.string(),
  /** By the engine's own rendering; null if it refuses the body. */
  rendered: z.array(z.int()).nullable(),
  asked: z.array(asked),
});

export type Conversion = z.infer<typeof conversion>;

export const recordedAt = fileURLToPath(new URL('../recordings/conversions.jsonl', import.meta.url));

/** In the order of the cases. */
export function recordedConversions(): readonly Conversion[] {
  const lines = readFileSync(recordedAt, 'utf8').trimEnd().split('\n');
  return lines.map((line) => conversion.parse(JSON.parse(line)));
}

export const allCases: readonly ConversionCase[] = [...followed, ...unfollowed];
