/**
 * How well-known families write a turn: data, for naming markers that the served model does not have. What the served
 * model has itself is learnt from the engine; nothing here says anything about it.
 *
 * Source: the chat templates in llama.cpp's `models/templates` and `src/llama-chat.cpp`.
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
    family: 'ChatML',
    openings: named('<|im_start|>', '\n'),
    ends: ['<|im_end|>'],
    heads: ['<|begin_of_text|>', '<s>', '<|endoftext|>'],
    alsoText: false,
  },
  {
    family: 'Meta 3',
    openings: named('<|start_header_id|>', '<|end_header_id|>'),
    ends: ['<|eot_id|>'],
    heads: ['<|begin_of_text|>'],
    alsoText: false,
  },
  {
    family: 'Meta 4',
    openings: named('<|header_start|>', '<|header_end|>'),
    ends: ['<|eot|>'],
    heads: ['<|begin_of_text|>'],
    alsoText: false,
  },
  {
    family: 'Gemma 2 and 3',
    openings: named('<start_of_turn>', '\n'),
    ends: ['<end_of_turn>'],
    heads: ['<bos>'],
    alsoText: false,
  },
  {
    family: 'Gemma 4',
    openings: named('<|turn>', '\n'),
    ends: ['<turn|>'],
    heads: ['<bos>'],
    alsoText: false,
  },
  {
    family: 'INST',
    openings: bare('', '[INST]'),
    ends: ['[/INST]'],
    heads: ['<s>'],
    alsoText: true,
  },
  {
    family: 'Phi, Zephyr and GLM',
    openings: bare('\n', '<|system|>', '<|user|>', '<|assistant|>'),
    ends: ['<|end|>', '</s>', '<|endoftext|>'],
    heads: ['<s>', '[gMASK]', '<sop>'],
    alsoText: true,
  },
  {
    family: 'DeepSeek',
    openings: bare('', '<｜User｜>', '<｜Assistant｜>'),
    ends: ['<｜end▁of▁sentence｜>'],
    heads: ['<｜begin▁of▁sentence｜>'],
    alsoText: false,
  },
  {
    family: 'Command R',
    openings: bare('', '<|USER_TOKEN|>', '<|CHATBOT_TOKEN|>', '<|SYSTEM_TOKEN|>'),
    ends: ['<|END_OF_TURN_TOKEN|>'],
    heads: ['<BOS_TOKEN>', '<|START_OF_TURN_TOKEN|>'],
    alsoText: false,
  },
  {
    family: 'Granite',
    openings: named('<|start_of_role|>', '<|end_of_role|>'),
    ends: ['<|end_of_text|>'],
    heads: [],
    alsoText: false,
  },
  {
    family: 'gpt-oss',
    openings: named('<|start|>', '<|message|>'),
    ends: ['<|end|>', '<|return|>'],
    heads: [],
    alsoText: false,
  },
  {
    family: 'EXAONE',
    openings: bare('', '[|system|]', '[|user|]', '[|assistant|]'),
    ends: ['[|endofturn|]'],
    heads: ['[BOS]'],
    alsoText: false,
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
