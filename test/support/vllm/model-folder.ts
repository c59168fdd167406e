// A model in Hugging Face's format that vLLM serves without a GPU: random weights behind a family's real tokenizer and
// chat template. It writes nonsense, but its ids, counts and cache are the engine's own.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from '../cached.ts';
import { packageFile, type Family } from '../gguf/families.ts';
import { randomHalves } from '../random-halves.ts';
import { writeSafetensors, type SafeTensor } from './safetensors.ts';

/** Part of every folder's path; raise it when what is written changes, so that cached folders are made anew. */
const modelVersion = 1;

/** `vocabulary`: one more than the highest id. */
const traits: Record<Family, { vocabulary: number; bos: number; eos: number }> = {
  gemma3: { vocabulary: 262_145, bos: 2, eos: 1 },
  qwen3: { vocabulary: 151_669, bos: 151_643, eos: 151_645 },
  'llama3.1': { vocabulary: 128_256, bos: 128_000, eos: 128_009 },
};

const width = 64;
/** Two heads of 32 numbers: the smallest head that vLLM's attention for CPUs accepts. */
const heads = 2;
const context = 32_768;
const seed = 0x7eed;

/** The path of a folder (16–34 MB and the tokenizer) with `config.json`, weights and tokenizer; its last part is the family's name. */
export function modelFolder(family: Family): Promise<string> {
  return cached(`hf-${modelVersion}/${family}`, async (path) => {
    await mkdir(path);
    await Promise.all([
      writeFile(join(path, 'config.json'), JSON.stringify(configOf(family), undefined, 2)),
      writeSafetensors(join(path, 'model.safetensors'), tensorsOf(traits[family].vocabulary)),
      copyFile(packageFile(family, 'tokenizer'), join(path, 'tokenizer.json')),
      copyFile(packageFile(family, 'tokenizer_config'), join(path, 'tokenizer_config.json')),
    ]);
  });
}

function configOf(family: Family): object {
  const { vocabulary, bos, eos } = traits[family];
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    hidden_size: width,
    intermediate_size: width,
    num_hidden_layers: 1,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    head_dim: width / heads,
    max_position_embeddings: context,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    // No weights for the output: it uses the embedding.
    tie_word_embeddings: true,
    torch_dtype: 'float16',
    vocab_size: vocabulary,
    bos_token_id: bos,
    eos_token_id: eos,
  };
}

function tensorsOf(vocabulary: number): SafeTensor[] {
  const random = randomHalves(seed);
  const matrix = (name: string, rows: number): SafeTensor => ({
    name: `model.${name}.weight`,
    shape: [rows, width],
    type: 'F16',
    data: random(rows * width),
  });
  const norm = (name: string): SafeTensor => ({
    name: `model.${name}.weight`,
    shape: [width],
    type: 'F16',
    data: new Uint8Array(new Uint16Array(width).fill(0x3c_00).buffer),
  });
  return [
    matrix('embed_tokens', vocabulary),
    norm('norm'),
    norm('layers.0.input_layernorm'),
    norm('layers.0.post_attention_layernorm'),
    ...['q', 'k', 'v', 'o'].map((part) => matrix(`layers.0.self_attn.${part}_proj`, width)),
    ...['gate', 'up', 'down'].map((part) => matrix(`layers.0.mlp.${part}_proj`, width)),
  ];
}
