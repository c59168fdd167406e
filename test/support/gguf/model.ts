// The smallest model that llama-server serves: random weights behind a real vocabulary. It writes nonsense, but its
// token ids, templates, counts, cache and timings are the engine's own.
import { randomHalves } from '../random-halves.ts';
import { writeGguf, type GgufTensor, type GgufValue } from './writer.ts';

/** Part of every model file's path; raise it when what is written changes, so that cached files are made anew. */
export const modelVersion = 1;

/** Values of `tokenizer.ggml.token_type`. */
export const tokenKind = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const;
export type TokenKind = (typeof tokenKind)[keyof typeof tokenKind];

export interface Token {
  text: string;
  kind: TokenKind;
}

/** What the engine needs to turn text into ids. `tokens[i]` has id i. */
export interface Vocabulary {
  /** `llama` is SentencePiece (earlier ids merge first), `gpt2` byte-level BPE. */
  algorithm: 'llama' | 'gpt2';
  /** Name of the pre-tokenizer of a `gpt2` vocabulary, e.g. `qwen2`. */
  pre?: string;
  tokens: readonly Token[];
  /** `left right`, first merge first; a `gpt2` vocabulary needs at least one. */
  merges?: readonly string[];
  /** Absent: the metadata name none, and the engine takes one by its own default. */
  bos?: number;
  eos: number;
  eot?: number;
  addBos: boolean;
  addSpacePrefix?: boolean;
  chatTemplate?: string;
}

const width = 64;
const heads = 2;
const context = 65_536;
const seed = 0x7eed;

/** Writes a one-block `llama` model with the same random weights each time: 128 bytes per token and about 60 KB. */
export function writeModel(path: string, name: string, vocabulary: Vocabulary): Promise<void> {
  return writeGguf(path, metadataOf(name, vocabulary), tensorsOf(vocabulary.tokens.length));
}

function metadataOf(name: string, vocabulary: Vocabulary): Record<string, GgufValue> {
  const { tokens, pre, merges, eot, addSpacePrefix, chatTemplate } = vocabulary;
  const key = (name: string) => `tokenizer.ggml.${name}`;
  return {
    'general.architecture': { type: 'string', value: 'llama' },
    'general.name': { type: 'string', value: name },
    'general.file_type': { type: 'u32', value: 1 },
    'llama.context_length': { type: 'u32', value: context },
    'llama.embedding_length': { type: 'u32', value: width },
    'llama.feed_forward_length': { type: 'u32', value: width },
    'llama.block_count': { type: 'u32', value: 1 },
    'llama.attention.head_count': { type: 'u32', value: heads },
    'llama.attention.head_count_kv': { type: 'u32', value: heads },
    'llama.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-6 },
    'llama.rope.dimension_count': { type: 'u32', value: width / heads },
    [key('model')]: { type: 'string', value: vocabulary.algorithm },
    ...(pre !== undefined && { [key('pre')]: { type: 'string', value: pre } }),
    [key('tokens')]: { type: 'strings', value: tokens.map((token) => token.text) },
    [key('token_type')]: { type: 'i32s', value: Int32Array.from(tokens, (token) => token.kind) },
    ...(vocabulary.algorithm === 'llama' && {
      [key('scores')]: { type: 'f32s', value: Float32Array.from(tokens, (_token, id) => -id) },
    }),
    ...(merges !== undefined && { [key('merges')]: { type: 'strings', value: merges } }),
    ...(vocabulary.bos !== undefined && { [key('bos_token_id')]: { type: 'u32', value: vocabulary.bos } }),
    [key('eos_token_id')]: { type: 'u32', value: vocabulary.eos },
    ...(eot !== undefined && { [key('eot_token_id')]: { type: 'u32', value: eot } }),
    [key('add_bos_token')]: { type: 'bool', value: vocabulary.addBos },
    ...(addSpacePrefix !== undefined && {
      [key('add_space_prefix')]: { type: 'bool', value: addSpacePrefix },
    }),
    ...(chatTemplate !== undefined && { 'tokenizer.chat_template': { type: 'string', value: chatTemplate } }),
  };
}

/** No `output.weight`: the engine then uses the embedding for the output, too. */
function tensorsOf(vocabularySize: number): GgufTensor[] {
  const random = randomHalves(seed);
  const matrix = (name: string, rows: number): GgufTensor => ({
    name,
    shape: [width, rows],
    type: 'f16',
    data: random(width * rows),
  });
  const norm = (name: string): GgufTensor => ({
    name,
    shape: [width],
    type: 'f32',
    data: new Uint8Array(new Float32Array(width).fill(1).buffer),
  });
  return [
    matrix('token_embd.weight', vocabularySize),
    norm('output_norm.weight'),
    norm('blk.0.attn_norm.weight'),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((part) => matrix(`blk.0.${part}.weight`, width)),
    norm('blk.0.ffn_norm.weight'),
    ...['ffn_gate', 'ffn_up', 'ffn_down'].map((part) => matrix(`blk.0.${part}.weight`, width)),
  ];
}
