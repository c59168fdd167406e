// Reads a recorded reply of a real vLLM. Recorded anew by `npm run record:vllm`.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Family } from '../../support/gguf/families.ts';

const told = z.object({
  path: z.string(),
  sent: z.record(z.string(), z.unknown()).optional(),
  status: z.int(),
  headers: z.record(z.string(), z.string()),
});

export interface Recording extends z.infer<typeof told> {
  /** The reply's body, as it came. */
  readonly text: string;
}

/** @param name of the file, without `.txt` */
export function recording(family: Family, name: string): Recording {
  const text = readFileSync(new URL(`./${family}/${name}.txt`, import.meta.url), 'utf8');
  const end = text.indexOf('\n\n');
  return { ...told.parse(JSON.parse(text.slice(0, end))), text: text.slice(end + 2) };
}
