/**
 * How well-known families write a turn: data, for naming markers that the served model does not have. What the served
 * model has itself is learnt from the engine; nothing here says anything about it. Above each family stands its source in
 * llama.cpp: a template in `models/templates`, or `src/llama-chat.cpp`.
 */

/** What a turn opens with. */
export interface TurnOpening {
  readonly start: string;
  /** True if a role's name follows; else the marker itself says whose turn it is. */
  readonly named: boolean;
  /** What follows the start, or the role's name, and is no content yet: a marker, a line end, or '' for nothing. */
  readonly close: string;
}

export interface TurnForms {
  readonly openings: readonly TurnOpening[];
  /** What a turn ends with; [] where the next opening ends it. */
  readonly ends: readonly string[];
}

export interface MarkerFamily extends TurnForms {
  readonly family: string;
  /** Texts that may stand before the first turn. */
  readonly heads: readonly string[];
  /** True if there are models that know these markers as plain text: to them a missing token means nothing. */
  readonly alsoText: boolean;
}

const named = (start: string, close: string): TurnOpening[] => [{ start, named: true, close }];
const bare = (close: string, ...starts: readonly string[]): TurnOpening[] =>
  starts.map((start) => ({ start, named: false, close }));

export const markerFamilies: readonly MarkerFamily[] = [
  {
    // Qwen-Qwen3-0.6B
    family: 'ChatML',
    openings: named('<|im_start|>', '\n'),
    ends: ['<|im_end|>'],
    heads: ['<|begin_of_text|>', '<s>', '<|endoftext|>', '<|startoftext|>'],
    alsoText: false,
  },
  {
    // meta-llama-Llama-3.1-8B-Instruct
    family: 'Meta 3',
    openings: named('<|start_header_id|>', '<|end_header_id|>'),
    ends: ['<|eot_id|>'],
    heads: ['<|begin_of_text|>'],
    alsoText: false,
  },
  {
    // src/llama-chat.cpp
    family: 'Meta 4',
    openings: named('<|header_start|>', '<|header_end|>'),
    ends: ['<|eot|>'],
    heads: ['<|begin_of_text|>'],
    alsoText: false,
  },
  {
    // google-gemma-2-2b-it
    family: 'Gemma 2 and 3',
    openings: named('<start_of_turn>', '\n'),
    ends: ['<end_of_turn>'],
    heads: ['<bos>'],
    alsoText: false,
  },
  {
    // google-gemma-4-31B-it
    family: 'Gemma 4',
    openings: named('<|turn>', '\n'),
    ends: ['<turn|>'],
    heads: ['<bos>'],
    alsoText: false,
  },
  {
    // unsloth-mistral-Devstral-Small-2507
    family: 'INST',
    openings: bare('', '[INST]', '[SYSTEM_PROMPT]'),
    ends: ['[/INST]', '[/SYSTEM_PROMPT]'],
    heads: ['<s>'],
    alsoText: true,
  },
  {
    // microsoft-Phi-3.5-mini-instruct
    family: 'Phi, Zephyr and GLM',
    openings: bare('\n', '<|system|>', '<|user|>', '<|assistant|>'),
    ends: ['<|end|>', '</s>', '<|endoftext|>'],
    heads: ['<s>', '[gMASK]', '<sop>'],
    alsoText: true,
  },
  {
    // deepseek-ai-DeepSeek-V3.1
    family: 'DeepSeek',
    openings: bare('', '<｜User｜>', '<｜Assistant｜>'),
    ends: ['<｜end▁of▁sentence｜>'],
    heads: ['<｜begin▁of▁sentence｜>'],
    alsoText: false,
  },
  {
    // CohereForAI-c4ai-command-r7b-12-2024-tool_use
    family: 'Command R',
    openings: bare('', '<|USER_TOKEN|>', '<|CHATBOT_TOKEN|>', '<|SYSTEM_TOKEN|>'),
    ends: ['<|END_OF_TURN_TOKEN|>'],
    heads: ['<BOS_TOKEN>', '<|START_OF_TURN_TOKEN|>'],
    alsoText: false,
  },
  {
    // ibm-granite-granite-4.0
    family: 'Granite',
    openings: named('<|start_of_role|>', '<|end_of_role|>'),
    ends: ['<|end_of_text|>'],
    heads: [],
    alsoText: false,
  },
  {
    // openai-gpt-oss-120b
    family: 'gpt-oss',
    openings: named('<|start|>', '<|message|>'),
    ends: ['<|end|>', '<|return|>'],
    heads: [],
    alsoText: false,
  },
  {
    // src/llama-chat.cpp
    family: 'EXAONE',
    openings: bare('', '[|system|]', '[|user|]', '[|assistant|]'),
    ends: ['[|endofturn|]'],
    heads: ['[BOS]'],
    alsoText: false,
  },
  {
    // moonshotai-Kimi-K2
    family: 'Kimi K2',
    openings: ['<|im_system|>', '<|im_user|>', '<|im_assistant|>'].flatMap((start) =>
      named(start, '<|im_middle|>'),
    ),
    ends: ['<|im_end|>'],
    heads: [],
    alsoText: false,
  },
  {
    // ByteDance-Seed-OSS
    family: 'Seed-OSS',
    openings: named('<seed:bos>', '\n'),
    ends: ['<seed:eos>'],
    heads: [],
    alsoText: false,
  },
  {
    // MiniMax-M2
    family: 'MiniMax M2',
    openings: named(']~b]', '\n'),
    ends: ['[e~['],
    heads: [']~!b['],
    alsoText: false,
  },
  {
    // Apertus-8B-Instruct
    family: 'Apertus',
    openings: bare('', '<|system_start|>', '<|developer_start|>', '<|user_start|>', '<|assistant_start|>'),
    ends: ['<|system_end|>', '<|developer_end|>', '<|user_end|>', '<|assistant_end|>'],
    heads: ['<s>'],
    alsoText: false,
  },
  {
    // upstage-Solar-Open-100B
    family: 'Solar Open',
    openings: named('<|begin|>', '<|content|>'),
    ends: ['<|end|>'],
    heads: [],
    alsoText: false,
  },
  {
    // src/llama-chat.cpp
    family: 'Hunyuan',
    openings: bare('', '<｜hy_User｜>', '<｜hy_Assistant｜>'),
    ends: ['<｜hy_place▁holder▁no▁2｜>', '<｜hy_place▁holder▁no▁3｜>'],
    heads: ['<｜hy_begin▁of▁sentence｜>'],
    alsoText: false,
  },
  {
    // NVIDIA-Nemotron-Nano-v2
    family: 'Nemotron Nano 2',
    openings: ['<SPECIAL_10>', '<SPECIAL_11>'].flatMap((start) => named(start, '\n')),
    ends: ['<SPECIAL_12>'],
    heads: ['<s>'],
    alsoText: false,
  },
  {
    // Apriel-1.6-15b-Thinker-fixed
    family: 'Apriel',
    openings: bare('\n', '<|begin_system|>', '<|begin_user|>', '<|begin_assistant|>'),
    ends: ['<|end|>'],
    heads: ['<s>'],
    alsoText: false,
  },
  {
    // src/llama-chat.cpp
    family: 'Megrez',
    openings: named('<|role_start|>', '<|role_end|>'),
    ends: ['<|turn_end|>'],
    heads: [],
    alsoText: false,
  },
  {
    // src/llama-chat.cpp
    family: 'dots',
    openings: bare('', '<|userprompt|>', '<|response|>'),
    ends: ['<|endofsystem|>', '<|endofuserprompt|>', '<|endofresponse|>'],
    heads: [],
    alsoText: false,
  },
  {
    // src/llama-chat.cpp
    family: 'OpenChat',
    openings: bare('', 'GPT4 Correct User:', 'GPT4 Correct Assistant:'),
    ends: ['<|end_of_turn|>'],
    heads: ['<s>'],
    alsoText: true,
  },
];

/** The marker texts by which the engine can tell whether its vocabulary has a family, each once. */
export const familyMarkers: readonly string[] = [
  ...new Set(
    markerFamilies.flatMap(({ openings, ends, alsoText }) => [
      ...openings.flatMap(({ start, close }) => [start, close]),
      ...(alsoText ? [] : ends),
    ]),
  ),
].filter((text) => text.trim() !== '');

/** Families whose markers are tokens wherever a model was trained on them: that one is no token then says something. */
const tokenFamilies = markerFamilies.filter(({ alsoText }) => !alsoText);

/** The family that opens turns as this text does; undefined for one that is not here, or that some models have as text. */
export function familyOpening(opening: string): MarkerFamily | undefined {
  return tokenFamilies.find(({ openings }) => openings.some(({ start }) => opening.includes(start)));
}

/** The families of which a vocabulary has both what opens a turn and what ends one. */
export function familiesAmong(tokens: ReadonlySet<string>): readonly MarkerFamily[] {
  return tokenFamilies.filter(
    ({ openings, ends }) =>
      openings.some(({ start }) => tokens.has(start)) && ends.some((end) => tokens.has(end)),
  );
}
