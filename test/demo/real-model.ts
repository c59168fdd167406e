// A model file with the demo engine's own vocabulary and chat template, so that a real llama-server can be asked the
// same questions. Random weights: nothing here looks at what it generates.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { chatTemplate } from '../../src/demo/chat-template.ts';
import { cached } from '../support/cached.ts';
import { modelVersion, tokenKind, writeModel, type Token } from '../support/gguf/model.ts';

interface TokenizerFile {
  added_tokens: { id: number; content: string; special: boolean }[];
  model: { vocab: Record<string, number>; merges: [string, string][] };
}

/** The path of the GGUF file, cached by what went into it. */
export async function demoModelFile(): Promise<string> {
  const json = await readFile(new URL('../../src/demo/tokenizer.json', import.meta.url), 'utf8');
  const { model, added_tokens: added } = JSON.parse(json) as TokenizerFile;
  const tokens: Token[] = [];
  for (const [text, id] of Object.entries(model.vocab)) tokens[id] = { text, kind: tokenKind.normal };
  for (const { id, content, special } of added) {
    tokens[id] = { text: content, kind: special ? tokenKind.control : tokenKind.userDefined };
  }
  const idOf = (text: string): number => added.find(({ content }) => content === text)!.id;
  const digest = createHash('sha256').update(json).update(chatTemplate).digest('hex').slice(0, 16);
  return cached(`gguf-${modelVersion}/${digest}/demo.gguf`, (path) =>
    writeModel(path, 'demo', {
      algorithm: 'gpt2',
      pre: 'gpt-2',
      tokens,
      merges: model.merges.map((pair) => pair.join(' ')),
      bos: idOf('<bos>'),
      eos: idOf('<eos>'),
      eot: idOf('<|end|>'),
      addBos: true,
      chatTemplate,
    }),
  );
}
