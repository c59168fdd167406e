// The models that generated conversations are sent to: three real families, two made ones whose templates are unlike
// theirs, and a base model.
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { modelFile, type Family } from '../support/gguf/families.ts';

/** What a family's template can be sent without anything being wrong. */
export interface ScaleFamily {
  readonly name: string;
  readonly file: () => Promise<string>;
  /** Absent where there is no model folder of it, which vLLM needs. */
  readonly folder?: Family;
  /** No template: a base model, for raw prompts only. */
  readonly base?: boolean;
  readonly tools?: boolean;
  readonly reasoning?: boolean;
  readonly fillIn?: { readonly prefix: string; readonly suffix: string; readonly middle: string };
  /** The text of the BOS that the engine adds by itself; absent if it adds none. */
  readonly bos?: string;
  /** A role marker of some other family that this vocabulary does not have. */
  readonly foreign: string;
}

export const chatMl =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** BOS per turn, roles without a marker of their own, and the system text inside the first user turn. */
const instructions =
  "{% set ns = namespace(system='') %}{% for m in messages %}" +
  "{% if m.role == 'system' %}{% set ns.system = '<<SYS>>\\n' + m.content + '\\n<</SYS>>\\n\\n' %}" +
  "{% elif m.role == 'user' %}{{ bos_token + '[INST] ' + ns.system + m.content + ' [/INST]' }}{% set ns.system = '' %}" +
  "{% else %}{{ ' ' + m.content + ' ' + eos_token }}{% endif %}{% endfor %}";

export const families: readonly ScaleFamily[] = [
  {
    name: 'qwen3',
    file: () => modelFile('qwen3'),
    folder: 'qwen3',
    tools: true,
    reasoning: true,
    fillIn: { prefix: '<|fim_prefix|>', suffix: '<|fim_suffix|>', middle: '<|fim_middle|>' },
    foreign: '<|start_header_id|>user<|end_header_id|>\n\n',
  },
  {
    name: 'gemma3',
    file: () => modelFile('gemma3'),
    folder: 'gemma3',
    bos: '<bos>',
    foreign: '<|im_start|>user\n',
  },
  {
    name: 'llama3.1',
    file: () => modelFile('llama3.1'),
    folder: 'llama3.1',
    bos: '<|begin_of_text|>',
    foreign: '<|im_start|>user\n',
  },
  {
    name: 'chatml',
    file: () =>
      byteModelFile({
        name: 'scale-chatml',
        markers: ['<|im_start|>', '<|im_end|>'],
        eos: '<|im_end|>',
        chatTemplate: chatMl,
      }),
    foreign: '<start_of_turn>user\n',
  },
  {
    name: 'instructions',
    file: () =>
      byteModelFile({
        name: 'scale-instructions',
        markers: ['<s>', '</s>'],
        bos: '<s>',
        eos: '</s>',
        addBos: true,
        chatTemplate: instructions,
      }),
    bos: '<s>',
    foreign: '<|im_start|>user\n',
  },
  {
    name: 'base',
    base: true,
    file: () => byteModelFile({ name: 'scale-base', markers: ['<s>'], bos: '<s>', addBos: true }),
    bos: '<s>',
    foreign: '<|im_start|>user\n',
  },
];
