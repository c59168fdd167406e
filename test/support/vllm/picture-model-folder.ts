// Models that see pictures, in Hugging Face's format: a family's real tokenizer and chat template, its real processor of
// pictures, and no weights. Start vLLM with `dummyWeights`: it makes up its own, and what is answered is nonsense.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from '../cached.ts';
import { packageFile } from '../gguf/families.ts';

/** Part of every folder's path; raise it when what is written changes, so that cached folders are made anew. */
const modelVersion = 1;

export const dummyWeights = ['--load-format', 'dummy'] as const;

const width = 64;
const tiny = {
  hidden_size: width,
  intermediate_size: width,
  num_hidden_layers: 1,
  num_attention_heads: 2,
};
const text = { ...tiny, num_key_value_heads: 2, max_position_embeddings: 32_768, rope_theta: 10_000 };
const halfGrey = { image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] };

/** Gemma 3: each picture is the same number of ids, here four, between two markers. */
export function gemma3WithPictures(): Promise<string> {
  const side = 56;
  return folderOf('gemma3', {
    'config.json': {
      architectures: ['Gemma3ForConditionalGeneration'],
      model_type: 'gemma3',
      torch_dtype: 'float16',
      bos_token_id: 2,
      eos_token_id: 1,
      boi_token_index: 255_999,
      eoi_token_index: 256_000,
      image_token_index: 262_144,
      mm_tokens_per_image: 4,
      text_config: {
        ...text,
        model_type: 'gemma3_text',
        head_dim: width / 2,
        query_pre_attn_scalar: width / 2,
        layer_types: ['full_attention'],
        vocab_size: 262_145,
        torch_dtype: 'float16',
      },
      vision_config: {
        ...tiny,
        model_type: 'siglip_vision_model',
        image_size: side,
        patch_size: 14,
        vision_use_head: false,
      },
    },
    'preprocessor_config.json': {
      ...halfGrey,
      image_processor_type: 'Gemma3ImageProcessor',
      processor_class: 'Gemma3Processor',
      size: { height: side, width: side },
      image_seq_length: 4,
    },
    'processor_config.json': { processor_class: 'Gemma3Processor', image_seq_length: 4 },
  });
}

/** Qwen 2.5 VL behind Qwen3's tokenizer and template: the larger a picture, the more ids. */
export function qwen3WithPictures(): Promise<string> {
  return folderOf('qwen3', {
    'config.json': {
      ...text,
      architectures: ['Qwen2_5_VLForConditionalGeneration'],
      model_type: 'qwen2_5_vl',
      torch_dtype: 'float16',
      bos_token_id: 151_643,
      eos_token_id: 151_645,
      image_token_id: 151_655,
      video_token_id: 151_656,
      vision_start_token_id: 151_652,
      vision_end_token_id: 151_653,
      vocab_size: 151_669,
      rms_norm_eps: 1e-6,
      hidden_act: 'silu',
      tie_word_embeddings: true,
      rope_scaling: { type: 'mrope', mrope_section: [4, 6, 6] },
      vision_config: {
        depth: 1,
        hidden_size: width,
        intermediate_size: width,
        out_hidden_size: width,
        num_heads: 2,
        patch_size: 14,
        spatial_merge_size: 2,
        temporal_patch_size: 2,
        fullatt_block_indexes: [0],
        window_size: 112,
        in_channels: 3,
        tokens_per_second: 2,
        hidden_act: 'silu',
      },
    },
    'preprocessor_config.json': {
      ...halfGrey,
      image_processor_type: 'Qwen2VLImageProcessor',
      processor_class: 'Qwen2_5_VLProcessor',
      min_pixels: 3136,
      max_pixels: 12_845_056,
      patch_size: 14,
      temporal_patch_size: 2,
      merge_size: 2,
    },
    'processor_config.json': { processor_class: 'Qwen2_5_VLProcessor' },
  });
}

function folderOf(family: 'gemma3' | 'qwen3', files: Readonly<Record<string, object>>): Promise<string> {
  return cached(`hf-pictures-${modelVersion}/${family}`, async (path) => {
    await mkdir(path);
    await Promise.all([
      ...Object.entries(files).map(([name, json]) => writeFile(join(path, name), JSON.stringify(json))),
      copyFile(packageFile(family, 'tokenizer'), join(path, 'tokenizer.json')),
      copyFile(packageFile(family, 'tokenizer_config'), join(path, 'tokenizer_config.json')),
    ]);
  });
}
