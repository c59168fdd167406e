// Replies to chats and raw prompts, and models whose turns are written in other ways than those of most.
import type { ModelFacts } from '../../../src/exchange/model-facts.ts';
import { factsOf, type ChoiceShape, type ExchangeShape } from '../../support/exchange-builder.ts';

const { qwen3, base } = factsOf;
export const rendered = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n';
const renderedIds = [[151_644, 872, 198, 151_644, 77_091, 198]];

export const chat = (says: string, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'chat',
  facts: qwen3,
  body: { messages: [{ role: 'user', content: 'Hi' }] },
  reply: { choices: [{ says }] },
  ...more,
});
export const asked = (content: string, says: string): ExchangeShape =>
  chat(says, { body: { messages: [{ role: 'user', content }] } });
export const raw = (prompt: string, says: string, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  ...chat(says),
  route: 'completion',
  body: { prompt },
  ids: [[5, 6, 7]],
  ...more,
});
export const ids = (generatedIds: number[], more: Partial<ExchangeShape> = {}): ExchangeShape => {
  const choice: ChoiceShape = { generatedIds };
  return raw(rendered, '', { ids: renderedIds, reply: { choices: [choice] }, ...more });
};

export const llama3: ModelFacts = {
  ...base,
  markers: [
    { text: '<|start_header_id|>', id: 128_006 },
    { text: '<|end_header_id|>', id: 128_007 },
    { text: '<|eot_id|>', id: 128_009 },
  ],
  eos: { text: '<|end_of_text|>', id: 128_001 },
  generationPrompt: {
    text: '<|start_header_id|>assistant<|end_header_id|>\n\n',
    ids: [128_006, 78_191, 128_007, 271],
  },
  roleMarkers: [
    { role: 'user', opening: '<|start_header_id|>user<|end_header_id|>\n\n' },
    { role: 'assistant', opening: '<|start_header_id|>assistant<|end_header_id|>\n\n' },
  ],
};
/** The model opens parts of its own turn, which look like turns. */
export const harmony: ModelFacts = {
  ...base,
  markers: [
    { text: '<|message|>', id: 200_008 },
    { text: '<|channel|>', id: 200_005 },
    { text: '<|start|>', id: 200_006 },
    { text: '<|end|>', id: 200_007 },
  ],
  generationPrompt: { text: '<|start|>assistant', ids: [200_006, 173_781] },
  roleMarkers: [
    { role: 'user', opening: '<|start|>user<|message|>' },
    { role: 'assistant', opening: '<|start|>assistant<|channel|>final<|message|>' },
  ],
};
export const vicuna: ModelFacts = {
  ...base,
  generationPrompt: { text: 'ASSISTANT:', ids: [319, 1799, 9047] },
  roleMarkers: [
    { role: 'user', opening: 'USER: ' },
    { role: 'assistant', opening: 'ASSISTANT: ' },
  ],
};
export const nextQuestion =
  'It is four.\nuser\nAnd what is three and three?\nassistant\nThree and three is six.';
export const speakers = 'You are helpful.\nUser: Hi\nAssistant:';
