// What the demo engine says about itself: properties, models, slots. Same fields as llama-server's, every name a demo's.
import { chatTemplate } from './chat-template.ts';
import { buildInfo, contextTokens, modelAlias, slotCount } from './labels.ts';
import type { SlotPool } from './slots.ts';
import type { DemoTokenizer } from './tokenizer.ts';

const modelPath = 'demo://tokenweir-demo';

export function propertiesReply(tokenizer: DemoTokenizer, mediaMarker: string): object {
  return {
    default_generation_settings: { params: { n_predict: -1, samplers: [] }, n_ctx: contextTokens },
    total_slots: slotCount,
    model_alias: modelAlias,
    model_ftype: 'none (demo, no model)',
    model_path: modelPath,
    modalities: { vision: false, video: false, audio: false },
    media_marker: mediaMarker,
    endpoint_slots: true,
    endpoint_props: false,
    endpoint_metrics: false,
    ui: false,
    ui_settings: {},
    chat_template: chatTemplate,
    chat_template_caps: {
      supports_string_content: true,
      supports_typed_content: false,
      supports_tools: true,
      supports_tool_calls: true,
      supports_parallel_tool_calls: true,
      supports_system_role: true,
      supports_preserve_reasoning: false,
      supports_reasoning_effort: false,
      supports_object_arguments: true,
    },
    bos_token: tokenizer.bos.text,
    eos_token: tokenizer.eos.text,
    build_info: buildInfo,
    is_sleeping: false,
    cors_proxy_enabled: false,
  };
}

/** @param created Unix seconds of the engine's start. */
export function modelsReply(tokenizer: DemoTokenizer, created: number): object {
  return {
    models: [
      {
        name: modelAlias,
        model: modelAlias,
        modified_at: '',
        size: '',
        digest: '',
        type: 'model',
        description: 'The demo engine of Tokenweir. It runs no model.',
        tags: [''],
        capabilities: ['completion'],
        parameters: '',
        details: {
          parent_model: '',
          format: 'demo',
          family: '',
          families: [''],
          parameter_size: '',
          quantization_level: '',
        },
      },
    ],
    object: 'list',
    data: [
      {
        id: modelAlias,
        aliases: [modelAlias],
        tags: [],
        object: 'model',
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        created,
        owned_by: modelAlias,
        meta: {
          // 2 is BPE in llama.cpp's list of vocabulary types.
          vocab_type: 2,
          n_vocab: tokenizer.vocabularySize,
          n_ctx: contextTokens,
          n_ctx_train: contextTokens,
          n_embd: 0,
          n_params: 0,
          size: 0,
          ftype: 'none (demo, no model)',
        },
      },
    ],
  };
}

export function slotsReply(slots: SlotPool): object[] {
  return slots.states.map(({ id, isBusy, tokenCount }) => ({
    id,
    n_ctx: contextTokens,
    speculative: false,
    is_processing: isBusy,
    ...(tokenCount > 0 && { n_prompt_tokens: tokenCount }),
  }));
}
