// Models in Hugging Face's format that vLLM serves without a GPU, behind a family's real tokenizer and chat template: with
// random weights, which write nonsense, or with weights that write one text. Ids, counts and cache are the engine's own.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from '../cached.ts';
import { packageFile, type Family } from '../gguf/families.ts';
import { randomHalves } from '../random-halves.ts';
import { writeSafetensors, type SafeTensor } from './safetensors.ts';

/** Part of every folder's path; raise it when what is written changes, so that cached folders are made anew. */
export const folderVersion = 1;

export interface ModelTraits {
  /** One more than the highest id. */
  readonly vocabulary: number;
  readonly bos: number;
  readonly eos: number;
}

const traits: Record<Family, ModelTraits> = {
  gemma3: { vocabulary: 262_145, bos: 2, eos: 1 },
  qwen3: { vocabulary: 151_669, bos: 151_643, eos: 151_645 },
  'llama3.1': { vocabulary: 128_256, bos: 128_000, eos: 128_009 },
};

export const modelWidth = 64;
/** Two heads of 32 numbers: the smallest head that vLLM's attention for CPUs accepts. */
const heads = 2;
const context = 32_768;
const seed = 0x7eed;

/** The path of a folder (16–34 MB and the tokenizer) with `config.json`, weights and tokenizer; its last part is the family's name. */
export function modelFolder(family: Family): Promise<string> {
  return folderOf(`hf-${folderVersion}`, family, () => tensorsOf(traits[family].vocabulary));
}

/**
 * Qwen3 that calls `get_weather` for Oslo as its answer to whatever ends with a line break, as its generation prompt does:
 * each of these tokens has the next one as its likeliest, whatever stands before.
 */
export function callingModelFolder(): Promise<string> {
  return folderOf(`hf-${folderVersion}-calling`, 'qwen3', () => chainOf(weatherCall));
}

/** No id twice: what comes next is told by the last one alone. */
const weatherCall = [
  198, // the line break
  151_657, // <tool_call>
  // {" name ":" get _weather "," arguments ":{" city ": ␠" Os lo "}}
  ...[4913, 606, 3252, 455, 69_364, 2198, 16_370, 22_317, 8926, 788, 330, 28_867, 385, 30_975],
  151_658, // </tool_call>
  151_645, // <|im_end|>
];

function folderOf(folder: string, family: Family, weights: () => readonly SafeTensor[]): Promise<string> {
  return cached(`${folder}/${family}`, async (path) => {
    await writeModelOf(path, traits[family], weights());
    await Promise.all([
      copyFile(packageFile(family, 'tokenizer'), join(path, 'tokenizer.json')),
      copyFile(packageFile(family, 'tokenizer_config'), join(path, 'tokenizer_config.json')),
    ]);
  });
}

/** Makes the folder, with everything in it but a tokenizer. */
export async function writeModelOf(
  path: string,
  model: ModelTraits,
  tensors: readonly SafeTensor[] = tensorsOf(model.vocabulary),
): Promise<void> {
  await mkdir(path);
  // The output's weights are the embedding's unless the model has its own.
  const tied = !tensors.some(({ name }) => name === 'lm_head.weight');
  await Promise.all([
    writeFile(join(path, 'config.json'), JSON.stringify(configOf(model, tied), undefined, 2)),
    writeSafetensors(join(path, 'model.safetensors'), tensors),
  ]);
}

function configOf({ vocabulary, bos, eos }: ModelTraits, tied: boolean): object {
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    hidden_size: modelWidth,
    intermediate_size: modelWidth,
    num_hidden_layers: 1,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    head_dim: modelWidth / heads,
    max_position_embeddings: context,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: tied,
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
    shape: [rows, modelWidth],
    type: 'F16',
    data: random(rows * modelWidth),
  });
  const norm = (name: string): SafeTensor => ({
    name: `model.${name}.weight`,
    shape: [modelWidth],
    type: 'F16',
    data: new Uint8Array(new Uint16Array(modelWidth).fill(0x3c_00).buffer),
  });
  return [
    matrix('embed_tokens', vocabulary),
    norm('norm'),
    norm('layers.0.input_layernorm'),
    norm('layers.0.post_attention_layernorm'),
    ...['q', 'k', 'v', 'o'].map((part) => matrix(`layers.0.self_attn.${part}_proj`, modelWidth)),
    ...['gate', 'up', 'down'].map((part) => matrix(`layers.0.mlp.${part}_proj`, modelWidth)),
  ];
}

/** Only the embedding tells what comes next: the layer adds nothing, and a token's row of the output is its forerunner's. */
function chainOf(ids: readonly number[]): SafeTensor[] {
  const { vocabulary } = traits.qwen3;
  const rowBytes = 2 * modelWidth;
  const silent = new Set(['model.layers.0.self_attn.o_proj.weight', 'model.layers.0.mlp.down_proj.weight']);
  const tensors = tensorsOf(vocabulary).map((tensor) =>
    silent.has(tensor.name) ? { ...tensor, data: new Uint8Array(tensor.data.length) } : tensor,
  );
  const embedding = tensors[0]?.data ?? new Uint8Array();
  const output = new Uint8Array(embedding.length);
  for (const [index, id] of ids.slice(1).entries()) {
    const before = (ids[index] ?? 0) * rowBytes;
    output.set(embedding.subarray(before, before + rowBytes), id * rowBytes);
  }
  return [...tensors, { name: 'lm_head.weight', shape: [vocabulary, modelWidth], type: 'F16', data: output }];
}
