// A case of the corpus: requests like those of a public report, and what must be said of them. Data only.
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { culprits, findingKinds, severities } from '../../src/exchange/finding.ts';

/** Models that no family's file is: their templates are ours, written for the case. */
const byteModel = z.strictObject({
  name: z.string(),
  markers: z.array(z.string()),
  chatTemplate: z.string().exactOptional(),
  bos: z.string().exactOptional(),
  eos: z.string().exactOptional(),
  addBos: z.boolean().exactOptional(),
});

const find = z.strictObject({
  /** Which of the requests; the first is 0. */
  request: z.int(),
  kind: z.enum(findingKinds),
  cause: z.string(),
  severity: z.enum(severities),
  culprit: z.enum(culprits),
  field: z.string().exactOptional(),
  tokens: z.strictObject({ start: z.int(), end: z.int() }).exactOptional(),
});

const caseShape = z.strictObject({
  /** Of the report; with a letter behind it a variant of our own: another client, family, language or route. */
  id: z.string().regex(/^[CN]\d+[a-z]?$/),
  link: z.url(),
  /** In our own words. */
  what: z.string(),
  /** A real llama-server with this family's vocabulary and template, or with a model of the case's own. */
  engine: z.union([z.enum(['qwen3', 'gemma3', 'llama3.1']), byteModel]),
  /** Options of the server, as the report's has them. */
  args: z.array(z.string()).exactOptional(),
  /** Context of each request in tokens; default 32768. */
  contextTokens: z.int().exactOptional(),
  requests: z
    .array(
      z.strictObject({
        path: z.string(),
        body: z.record(z.string(), z.json()),
        /** Of this field, the text is repeated so often. */
        repeat: z.strictObject({ text: z.string(), times: z.int() }).exactOptional(),
        /** Answered in the engine's stead, as the report has it: what the real one never says. */
        fakeReply: z.record(z.string(), z.json()).exactOptional(),
      }),
    )
    .min(1),
  /** All that is said above info, and what is said as info where the report asks for it. */
  finds: z.array(find),
});

export type CorpusCase = z.infer<typeof caseShape>;
export type CorpusFind = z.infer<typeof find>;

/** True for one of our own, after a report. */
export function isVariant({ id }: CorpusCase): boolean {
  return /[a-z]$/.test(id);
}

const folder = new URL('./cases/', import.meta.url);

/** @throws ZodError for a case that is not written as above. */
export function corpusCases(): readonly CorpusCase[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => z.array(caseShape).parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))));
}
