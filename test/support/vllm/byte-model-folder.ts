// The byte models of test/support/gguf/byte-model.ts in Hugging Face's format, for vLLM: the same tokens with the same ids,
// for templates, markers and BOS settings which no downloaded model has.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from '../cached.ts';
import { byteVocabulary, type ByteModel } from '../gguf/byte-model.ts';
import { tokenKind, type Vocabulary } from '../gguf/model.ts';
import { folderVersion, writeModelOf } from './model-folder.ts';

/** The path of a folder of some hundred KB, whose last part is the model's name. Made in a moment, cached by its whole description. */
export function byteModelFolder(model: ByteModel): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(model)).digest('hex').slice(0, 16);
  const vocabulary = byteVocabulary(model);
  const { tokens, eos, bos = eos } = vocabulary;
  return cached(`hf-${folderVersion}-bytes/${digest}/${model.name}`, async (path) => {
    await writeModelOf(path, { vocabulary: tokens.length, bos, eos });
    await Promise.all([
      writeFile(join(path, 'tokenizer.json'), JSON.stringify(tokenizerOf(vocabulary))),
      writeFile(join(path, 'tokenizer_config.json'), JSON.stringify(settingsOf(vocabulary))),
    ]);
  });
}

function tokenizerOf({ tokens, merges = [], bos, addBos }: Vocabulary): object {
  const entries = tokens.map(({ text, kind }, id) => ({ id, content: text, kind }));
  const ofText = { add_prefix_space: false, trim_offsets: false, use_regex: true };
  return {
    version: '1.0',
    added_tokens: entries
      .filter(({ kind }) => kind !== tokenKind.normal)
      .map(({ id, content, kind }) => ({
        ...{ id, content, special: kind === tokenKind.control },
        ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
      })),
    pre_tokenizer: { type: 'ByteLevel', ...ofText },
    post_processor: addBos && bos !== undefined ? puttingFirst(tokens[bos]?.text ?? '', bos) : null,
    decoder: { type: 'ByteLevel', ...ofText },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(
        entries.filter(({ kind }) => kind === tokenKind.normal).map(({ id, content }) => [content, id]),
      ),
      merges,
    },
  };
}

function puttingFirst(text: string, id: number): object {
  const special = { SpecialToken: { id: text, type_id: 0 } };
  return {
    type: 'TemplateProcessing',
    single: [special, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [special, { Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: { [text]: { id: text, ids: [id], tokens: [text] } },
  };
}

function settingsOf({ tokens, bos, eos, chatTemplate }: Vocabulary): object {
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    eos_token: tokens[eos]?.text,
    ...(bos !== undefined && { bos_token: tokens[bos]?.text }),
    ...(chatTemplate !== undefined && { chat_template: chatTemplate }),
  };
}
