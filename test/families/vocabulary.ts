// What a template does not say about its model's vocabulary: which texts are tokens of their own, and what BOS is. As in
// the files that people download, as far as that is known; a template that no row is for has `<s>` and adds none.
import type { PublishedTemplate } from '../support/templates/published.ts';
import type { ByteModel } from '../support/gguf/byte-model.ts';

interface Row {
  /** Matches the templates' names. */
  readonly of: RegExp;
  readonly bos: string;
  readonly eos: string;
  /** Whether the tokenizer puts BOS first by itself. */
  readonly addBos: boolean;
  /** Control tokens that no pattern finds in the template. */
  readonly markers?: readonly string[];
}

const llama3 = { bos: '<|begin_of_text|>', eos: '<|eot_id|>', addBos: true };
const deepSeek = { bos: '<｜begin▁of▁sentence｜>', eos: '<｜end▁of▁sentence｜>', addBos: true };
const sentencePiece = { bos: '<s>', eos: '</s>', addBos: true };
const qwen = { bos: '<|endoftext|>', eos: '<|im_end|>', addBos: false };

/** The first row that matches holds. */
const rows: readonly Row[] = [
  { of: /^NousResearch-Hermes/, ...llama3, eos: '<|im_end|>' },
  { of: /^(?:meta-llama|meetkai|fireworks)/, ...llama3 },
  { of: /deepseek/i, ...deepSeek },
  { of: /Mistral|Ministral|Devstral/, ...sentencePiece },
  { of: /gemma-2/, bos: '<bos>', eos: '<eos>', addBos: true },
  { of: /gemma-4/, bos: '<bos>', eos: '<turn|>', addBos: true },
  { of: /^Cohere/, bos: '<BOS_TOKEN>', eos: '<|END_OF_TURN_TOKEN|>', addBos: true },
  { of: /Qwen|QwQ|MiMo|SmolLM3/, ...qwen },
  // The loader looks these up, by the model's name.
  { of: /Phi-3/, bos: '<s>', eos: '<|end|>', addBos: false, markers: ['<unk>', '</s>'] },
  { of: /Apertus/, bos: '<s>', eos: '<|assistant_end|>', addBos: true },
  { of: /Apriel/, bos: '<s>', eos: '<|end|>', addBos: true },
  { of: /Bielik|MiniCPM/, bos: '<s>', eos: '<|im_end|>', addBos: true },
  { of: /GigaChat/, bos: '<s>', eos: '<|message_sep|>', addBos: true },
  { of: /Seed-OSS/, bos: '<seed:bos>', eos: '<seed:eos>', addBos: false },
  { of: /^GLM/, bos: '<|endoftext|>', eos: '<|user|>', addBos: false, markers: ['[gMASK]', '<sop>'] },
  { of: /Kimi/, bos: '[BOS]', eos: '<|im_end|>', addBos: false },
  { of: /LFM2/, bos: '<|startoftext|>', eos: '<|im_end|>', addBos: true },
  { of: /MiniMax-M1/, bos: '<beginning_of_sentence>', eos: '<end_of_sentence>', addBos: false },
  { of: /MiniMax/, bos: ']~!b[', eos: '[e~[', addBos: false, markers: [']~b]'] },
  { of: /granite/, bos: '<|end_of_text|>', eos: '<|end_of_text|>', addBos: false },
  { of: /gpt-oss/, bos: '<|startoftext|>', eos: '<|return|>', addBos: false },
  { of: /Nemotron-Nano-v2/, bos: '<s>', eos: '<SPECIAL_12>', addBos: false },
  { of: /Nemotron-3/, bos: '<s>', eos: '<|im_end|>', addBos: false },
  { of: /StepFun/, bos: deepSeek.bos, eos: '<|im_end|>', addBos: true },
  { of: /Spark/, bos: '<｜start▁of▁sentence｜>', eos: '<｜end▁of▁sentence｜>', addBos: false },
  { of: /Reka/, bos: '<|endoftext|>', eos: '<sep>', addBos: false },
  { of: /ling/, bos: '<|startoftext|>', eos: '<|role_end|>', addBos: false, markers: ['<role>', '</role>'] },
  { of: /rwkv/, bos: '<s>', eos: '<s>', addBos: true },
  {
    of: /Laguna/,
    bos: '〈|EOS|〉',
    eos: '</assistant>',
    addBos: false,
    markers: ['<system>', '</system>', '<user>', '</user>', '<assistant>'],
  },
  {
    of: /Hy3/,
    bos: '<｜hy_begin_of_sentence:opensource｜>',
    eos: '<｜hy_eos:opensource｜>',
    addBos: false,
    markers: ['<｜hy_User:opensource｜>', '<｜hy_Assistant:opensource｜>', '<｜reasoning_mode:opensource｜>'],
  },
  { of: /muse/, bos: '<|begin_of_text|>', eos: '<|eot|>', addBos: true },
  { of: /Solar/, bos: '<|startoftext|>', eos: '<|end|>', addBos: false },
];

/** Texts that a vocabulary has as control tokens wherever a template writes them. */
const controlLike =
  /<[|｜][^|｜<>\s{}]{1,60}[|｜]>|<\|[A-Za-z_]+>|<[A-Za-z_]+\|>|<\|"\|>|\[\/?[A-Z][A-Z_]{1,30}\]|<\/?(?:start_of_turn|end_of_turn|SPECIAL_\d+)>/gu;

/** Texts that it has as user-defined tokens: one id each with special parsing or without. */
const userDefinedLike =
  /<\/?(?:think|tool_call|tool_response|arg_key|arg_value|seed:think|seed:tool_call)>/gu;

/** The model that a template is tried with: 256 bytes, the tokens above, the template itself. */
export function modelOf({ name, text }: PublishedTemplate): ByteModel {
  const row: Omit<Row, 'of'> = rows.find(({ of }) => of.test(name)) ?? { ...sentencePiece, addBos: false };
  const control = [...text.matchAll(controlLike)].map(([marker]) => marker);
  return {
    name,
    markers: [...new Set([row.bos, row.eos, ...(row.markers ?? []), ...control])],
    userDefined: [...new Set([...text.matchAll(userDefinedLike)].map(([marker]) => marker))],
    chatTemplate: text,
    bos: row.bos,
    eos: row.eos,
    addBos: row.addBos,
  };
}
