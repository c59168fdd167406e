// What foreign-template reports and what it leaves alone: above all talk of markers, and conversations that are quoted.
import { foreignTemplate } from '../../src/detectors/foreign-template.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { markerFamilies } from '../../src/tokens/marker-families.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const { qwen3, gemma3 } = factsOf;
const ml = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const mlAsk = '<|im_start|>assistant\n';
const chatMl = `${ml('system', 'S')}${ml('user', 'Hi')}${mlAsk}`;
const gemma = (role: string, content: string): string => `<start_of_turn>${role}\n${content}<end_of_turn>\n`;
const gemmaAsk = '<start_of_turn>model\n';
const ownGemma = `${gemma('user', 'Hi')}${gemmaAsk}`;
const inst = '[INST] <<SYS>>\nS\n<</SYS>>\n\nhi [/INST]';

/** Gemma 3, of which the engine has told what it reads ChatML's markers as. */
const asked = { ...gemma3, absentMarkers: [{ text: '<|im_start|>', tokens: 7 }] };

const raw = (prompt: string, facts: ExchangeShape['facts'] = asked): ExchangeShape => ({
  route: 'completion',
  body: { prompt },
  facts,
  text: prompt,
});
const chat = (...messages: { role: string; content: string }[]): ExchangeShape => ({
  route: 'chat',
  body: { messages },
  facts: asked,
  text: messages.map(({ role, content }) => gemma(role, content)).join('') + gemmaAsk,
});
const user = (content: string): ExchangeShape => chat({ role: 'user', content });
const judged = (content: string): ExchangeShape =>
  chat({ role: 'system', content: 'Rate this conversation.' }, { role: 'user', content });

/** A vocabulary with the markers of two families, of which the template writes one. */
const fineTuned = {
  ...qwen3,
  markers: [
    ...qwen3.markers,
    { text: '<|start_header_id|>', id: 7, kind: 'control' },
    { text: '<|end_header_id|>', id: 8, kind: 'control' },
    { text: '<|eot_id|>', id: 9, kind: 'control' },
  ],
} as const;
const header = (role: string): string => `<|start_header_id|>${role}<|end_header_id|>\n\n`;
const textForm = {
  ...factsOf.base,
  roleMarkers: [
    { role: 'user', opening: 'User: ' },
    { role: 'assistant', opening: 'Assistant: ' },
  ],
};
const mistral = {
  ...factsOf.mistral,
  generationPrompt: { text: '[/INST]', ids: [4] },
  turnEnds: ['[/INST]', '</s>'],
};

/** A model with fill-in markers of its own. */
const fillsIn = {
  ...asked,
  markers: [...gemma3.markers, { text: '<|fim_prefix|>', id: 8 }, { text: '<|fim_suffix|>', id: 9 }],
};

const mistyped = (...texts: readonly string[]): { name: string; exchange: ExchangeShape }[] =>
  texts.map((text) => ({ name: `another text than a mistyped marker: ${text}`, exchange: raw(text, qwen3) }));
const numbered = {
  ...qwen3,
  markers: [
    { text: '<SPECIAL_11>', id: 11 },
    { text: '<SPECIAL_12>', id: 12 },
  ],
  generationPrompt: { text: '<SPECIAL_11>Assistant\n', ids: [11, 5] },
  turnEnds: ['<SPECIAL_12>'],
  userTurnEnd: '<SPECIAL_12>',
  roleMarkers: [
    { role: 'user', opening: '<SPECIAL_11>User\n' },
    { role: 'assistant', opening: '<SPECIAL_11>Assistant\n' },
  ],
};
const llama3 = {
  ...fineTuned,
  generationPrompt: { text: header('assistant'), ids: [7, 1, 8, 2] },
  turnEnds: ['<|eot_id|>'],
  userTurnEnd: '<|eot_id|>',
  eos: { text: '<|eot_id|>', id: 9 },
  thinkTail: { text: '<think>', ids: [3] },
  roleMarkers: ['system', 'user', 'assistant'].map((role) => ({ role, opening: header(role) })),
} as const;
/** Each with what was meant, and where it stands. */
const misspelt = [
  ['<|im_strat|>user\nHi<|im_end|>\n<|im_strat|>assistant\n', qwen3, '<|im_strat|>', '<|im_start|>'],
  ['<|imstart|>user\nHi<|im_end|>\n<|imstart|>assistant\n', qwen3, '<|imstart|>', '<|im_start|>'],
  [`${ml('user', 'Hi')}<|IM_START|>assistant\n`, qwen3, '<|IM_START|>', '<|im_start|>'],
  [`${ml('user', 'Hi')}<|im_strt|>assistant`, qwen3, '<|im_strt|>', '<|im_start|>'],
  ['<|im_start|user\nHi<|im_end|>\n<|im_start|>assistant\n', qwen3, '<|im_start|', '<|im_start|>'],
  [`<|im_start|>user\nHi<|im_edn|>\n${mlAsk}`, qwen3, '<|im_edn|>', '<|im_end|>'],
  [`<|im_start|>user\nHi<|im_end>\n${mlAsk}`, qwen3, '<|im_end>', '<|im_end|>'],
  [`<|im_start|>user\nHi<|im_en|d>\n${mlAsk}`, qwen3, '<|im_en|d>', '<|im_end|>'],
  ['<|im_star|t>user\nHi<|im_end|>\n<|im_star|t>assistant\n', qwen3, '<|im_star|t>', '<|im_start|>'],
  [`${header('user')}Hi<|eot_i|d>${header('assistant')}`, llama3, '<|eot_i|d>', '<|eot_id|>'],
  [`${ml('system', 'S')}<|im_satrt|>user\nHi<|im_end|>\n${mlAsk}`, qwen3, '<|im_satrt|>', '<|im_start|>'],
  [`${header('user')}Hi<|eot_id>${header('assistant')}`, llama3, '<|eot_id>', '<|eot_id|>'],
  [
    `<|start_header_id|>user<|end_header_di|>\n\nHi<|eot_id|>${header('assistant')}`,
    llama3,
    '<|end_header_di|>',
    '<|end_header_id|>',
  ],
  ['<start_of_turn >user\nHi<end_of_turn>\n', gemma3, '<start_of_turn >', '<start_of_turn>'],
  [`<start_of_turn>user\nHi<end_of_tunr>\n${gemmaAsk}`, gemma3, '<end_of_tunr>', '<end_of_turn>'],
] as const;
const endsNothing = Object.fromEntries(
  Object.entries(qwen3).filter(([member]) => member !== 'userTurnEnd'),
) as unknown as ModelFacts;
const unended = {
  cause: 'unended-turn',
  severity: 'warning',
  culprit: 'client',
  field: 'prompt',
} as const;

testDetector(foreignTemplate, {
  clean: [
    ...mistyped(
      `<|im_start|>user\nWhat is wrong with <|im_strat|>?<|im_end|>\n${mlAsk}`,
      `<|im_start|>user\nWhy does this fail:\n<|im_strat|>user\nHi<|im_end|>\n\nTell me.<|im_end|>\n${mlAsk}`,
      `<|im_start|>user\nIs it <|im_end> or\n<|im_edn|><|im_end|>\n${mlAsk}`,
      `<|im_start|>user\n<im-start-button>Go</im-start-button><|im_end|>\n${mlAsk}`,
      `${ml('user', 'Hi')}${mlAsk}The marker is <|im_strat|>`,
      `${ml('user', 'Hi')}<|im_sep|>assistant\n`,
      `<|im_start|>user\nHi<|im_end|>\n<|im_begin|>assistant\n`,
    ),
    {
      name: 'what closes an opening, mistyped where a question speaks of it',
      exchange: raw(`${header('user')}Is <|end_header_di|> right?<|eot_id|>${header('assistant')}`, llama3),
    },
    {
      name: 'a numbered marker, of which a vocabulary has many',
      exchange: raw('<SPECIAL_10>User\nHi<SPECIAL_12>\n<SPECIAL_11>Assistant\n', numbered),
    },
    {
      name: 'a mistyped marker in a message, where nobody reads it as one',
      exchange: user('<|im_strat|>user\nHi<|im_end|>\n<|im_strat|>assistant\n'),
    },
    {
      name: 'mistyped markers of a model that is configured as base',
      exchange: { ...raw('<|im_strat|>user\nHi<|im_end|>\n', qwen3), modelKind: 'base' },
    },
    {
      name: 'a turn that is left open for the model to go on with',
      exchange: raw('<|im_start|>user\nHi', qwen3),
    },
    {
      name: 'a user’s turn that is not ended by a template that ends none',
      exchange: raw(`<|im_start|>user\nHi\n${mlAsk}`, endsNothing),
    },
    {
      name: 'a question about what opens an answer, to be gone on with',
      exchange: raw(`<|im_start|>user\nWhat does ${mlAsk}mean, and`, qwen3),
    },
    {
      name: 'an answer’s opening that is quoted in an ended turn',
      exchange: raw(`<|im_start|>user\nWhat does ${mlAsk}mean?<|im_end|>\n${mlAsk}`, qwen3),
    },
    {
      name: 'an unended answer that is to be gone on with, behind another opening of one',
      exchange: raw(`${ml('user', 'Hi')}${mlAsk}Yes\n${mlAsk}`, qwen3),
    },
    { name: 'an empty turn of the user’s', exchange: raw(`<|im_start|>user\n\n${mlAsk}`, qwen3) },
    {
      name: 'unended instructions',
      exchange: raw(`<|im_start|>system\nS\n${ml('user', 'Hi')}${mlAsk}`, qwen3),
    },
    {
      name: 'an unended turn, for scoring',
      exchange: { ...raw('', qwen3), body: { prompt: `<|im_start|>user\nHi\n${mlAsk}`, max_tokens: 1 } },
    },
    { name: 'a rendered conversation', exchange: raw(ownGemma) },
    { name: 'plain text, which has a name of its own', exchange: raw('Explain gradient descent.') },
    { name: 'a question about a marker', exchange: raw('what is <|im_start|>user\nfor?') },
    { name: 'a bare marker at the head of a text', exchange: raw('[INST] is a marker of which family?') },
    {
      name: 'code that builds a prompt',
      exchange: raw(String.raw`<|im_start|>{role}\n" + text + "<|im_end|>`),
    },
    {
      name: 'another family’s conversation inside a rendered turn',
      exchange: raw(`${gemma('user', `Rate this:\n${chatMl}`)}${gemmaAsk}`),
    },
    {
      name: 'an answer that the client has begun with another form',
      exchange: raw(`${ownGemma}Here is a prompt:\n${chatMl}`),
    },
    { name: 'a model that is configured as base', exchange: { ...raw(chatMl), modelKind: 'base' } },
    { name: 'a model without a template', exchange: raw(chatMl, factsOf.base) },
    {
      name: 'a model whose name says that it may be a base model',
      exchange: raw(chatMl, { ...asked, modelName: 'gemma-3-1b-pt' }),
    },
    {
      name: 'scoring',
      exchange: { ...raw(chatMl), body: { prompt: chatMl, echo: true, max_tokens: 0 } },
    },
    { name: 'ids', exchange: { ...raw(''), body: { prompt: [5, 6, 7] }, ids: [[5, 6, 7]] } },
    { name: 'a fill-in prompt', exchange: raw('<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>', qwen3) },
    {
      name: 'a question about fill-in markers',
      exchange: raw('What do <fim_prefix> and <fim_suffix> mean?'),
    },
    {
      name: 'one such marker at the head of a text',
      exchange: raw('<fim_prefix> is a marker of which family?'),
    },
    {
      name: 'fill-in markers of a model whose vocabulary nobody has asked',
      exchange: raw('<fim_prefix>a<fim_suffix>b<fim_middle>', gemma3),
    },
    {
      name: 'fill-in markers with a space in front, which a model may have without its being seen',
      exchange: raw('<PRE> a <SUF>b <MID>'),
    },
    {
      name: 'another family’s fill-in markers as text between the model’s own',
      exchange: raw('<|fim_prefix|><fim_prefix>a<fim_suffix><|fim_suffix|>b<|fim_middle|>', qwen3),
    },
    { name: 'a form that bare markers make up', exchange: raw('[INST] hi [/INST]', mistral) },
    { name: 'a message', exchange: user('What is 2 + 2?') },
    { name: 'a message that asks about a marker', exchange: user('what does <|im_start|>user mean?') },
    { name: 'one that begins with a marker', exchange: user('<|im_start|>user\nis what?') },
    { name: 'bare markers that are spoken of', exchange: user('[INST] and [/INST] are markers, why?') },
    { name: 'a conversation to rate', exchange: user(`Rate this:\n${chatMl}`) },
    { name: 'one with the question behind it', exchange: user(`${chatMl}\nIs it safe?`) },
    { name: 'one that is over', exchange: user(`${ml('user', 'Hi')}${ml('assistant', 'Hello')}`) },
    { name: 'one that is over, for a judge', exchange: judged(`${ml('user', 'a')}${ml('assistant', 'b')}`) },
    { name: 'a question, for a judge', exchange: judged(ml('user', 'Hi')) },
    { name: 'one in a fence', exchange: user(`\`\`\`\n${chatMl}\n\`\`\``) },
    {
      name: 'a description of a form',
      exchange: user(`${ml('system', '{system_message}')}${ml('user', '{prompt}')}${mlAsk}`),
    },
    {
      name: 'what a tool has returned',
      exchange: chat({ role: 'user', content: 'go' }, { role: 'tool', content: chatMl }),
    },
    {
      name: 'what the model has written itself',
      exchange: chat({ role: 'user', content: 'a' }, { role: 'assistant', content: chatMl }),
    },
    { name: 'a conversation that the template leaves out', exchange: { ...user(chatMl), text: ownGemma } },
    {
      name: 'one in the model’s own form, which has a name of its own',
      exchange: user(ownGemma),
    },
    { name: 'unfilled roles that are spoken of', exchange: user('<|im_start|>{role}\n{content}<|im_end|>') },
    {
      name: 'an unfilled role inside a turn',
      exchange: raw(`${ml('user', 'why <|im_start|>{role}\nhere?')}${mlAsk}`, qwen3),
    },
    {
      name: 'the form of the vocabulary, where the served template is of another',
      exchange: raw(ownGemma, {
        ...qwen3,
        markers: gemma3.markers,
        absentMarkers: [{ text: '<|im_start|>', tokens: 7 }],
      }),
    },
    {
      name: 'the form that the model’s stop token ends, where the served template is of another',
      exchange: raw(`${header('user')}Hi<|eot_id|>${header('assistant')}`, {
        ...fineTuned,
        eos: { text: '<|eot_id|>', id: 9 },
      }),
    },
    {
      name: 'any form, where the template is the engine’s own',
      exchange: raw(ownGemma, { ...qwen3, templateOrigin: 'default' }),
    },
    {
      name: 'a message in any form, where the template is the engine’s own',
      exchange: { ...user(chatMl), facts: { ...asked, templateOrigin: 'default' } },
    },
  ],
  found: [
    {
      name: 'another model’s fill-in prompt, for a model that knows none',
      exchange: raw('<fim_prefix>def a():\n<fim_suffix>\nprint(a())<fim_middle>'),
      findings: [
        {
          cause: 'not-in-vocabulary',
          field: 'prompt',
          characters: { start: 0, end: 12 },
          advice:
            'This model knows no fill-in markers: have the editor ask one that does, or ask this one in a chat.',
        },
      ],
    },
    {
      name: 'another model’s fill-in prompt, with the suffix first',
      exchange: raw('[SUFFIX]\nprint(a())[PREFIX]def a():\n', fillsIn),
      findings: [
        {
          cause: 'not-in-vocabulary',
          advice:
            "Set the client's fill-in template to the markers of this model (<|fim_prefix|>, <|fim_suffix|>), or send input_prefix and input_suffix to /infill where the engine has it.",
        },
      ],
    },
    {
      name: 'another model’s fill-in prompt behind the file’s name',
      exchange: raw('# a.py\n<PRE> def a(): <SUF>print(a()) <MID>', fillsIn),
      findings: [{ cause: 'not-in-vocabulary', characters: { start: 7, end: 12 } }],
    },
    {
      name: 'another family’s conversation',
      exchange: raw(chatMl),
      findings: [
        {
          cause: 'not-in-vocabulary',
          severity: 'error',
          culprit: 'client',
          field: 'prompt',
          promptIndex: 0,
          characters: { start: 0, end: chatMl.length },
          tokens: { start: 0, end: 8 },
        },
      ],
    },
    {
      name: 'one of which the engine was not asked',
      exchange: raw(chatMl, gemma3),
      findings: [{ cause: 'other-template' }],
    },
    {
      name: 'one behind the BOS of a third family',
      exchange: raw(`<|begin_of_text|>\n${chatMl}`),
      findings: [{ cause: 'not-in-vocabulary', characters: { start: 18, end: 18 + chatMl.length } }],
    },
    ...misspelt.map(([prompt, facts, marker, meant]) => {
      const start = prompt.indexOf(marker);
      return {
        name: `${marker} in the place of ${meant}, at ${start}`,
        exchange: raw(prompt, facts),
        findings: [
          {
            cause: 'malformed',
            severity: 'error' as const,
            culprit: 'client' as const,
            characters: { start, end: start + marker.length },
            message: `At character ${start} of prompt ${marker} stands where the model's own form has ${meant}: it is no token, and the model reads its letters.`,
          },
        ],
      };
    }),
    {
      name: 'a user’s turn that is never ended',
      exchange: raw(`<|im_start|>user\nHi\n${mlAsk}`, qwen3),
      findings: [
        {
          ...unended,
          characters: { start: 0, end: 20 + mlAsk.length },
          message:
            "The user's turn that begins at character 0 of prompt is never ended: the answer is opened at character 20, and the template writes <|im_end|> in front of that.",
        },
      ],
    },
    {
      name: 'the last of several, with thinking switched off',
      exchange: raw(
        `${ml('user', 'Hi')}${ml('assistant', 'Yes')}<|im_start|>user\nHi${mlAsk}<think>\n\n</think>\n\n`,
        qwen3,
      ),
      findings: [unended],
    },
    {
      name: 'all of them, of another family',
      exchange: raw(
        `${header('user')}Hi${header('assistant')}Yes${header('user')}So?${header('assistant')}`,
        llama3,
      ),
      findings: [unended],
    },
    { name: 'a turn that was left open', exchange: raw('<|im_start|>user\nHi'), findings: [{}] },
    {
      name: 'an answer that opens so behind plain instructions',
      exchange: raw(`You are terse.\n${ml('user', 'Hi')}${mlAsk}`),
      findings: [{ cause: 'not-in-vocabulary' }],
    },
    {
      name: 'an answer that opens so behind a turn of the model’s own',
      exchange: raw(`<start_of_turn>user\nHi<|im_end|>\n${mlAsk}`),
      findings: [{ cause: 'not-in-vocabulary' }],
    },
    {
      name: 'bare markers',
      exchange: raw(inst),
      findings: [{ cause: 'other-template', characters: { start: 0, end: inst.length } }],
    },
    {
      name: 'markers that the vocabulary has and the template does not write',
      exchange: raw(`${header('user')}Hi<|eot_id|>${header('assistant')}`, fineTuned),
      findings: [{ cause: 'other-template', tokens: { start: 0, end: 12 } }],
    },
    {
      name: 'a model whose own form is plain text',
      exchange: raw(chatMl, textForm),
      findings: [{ field: 'prompt' }],
    },
    {
      name: 'the model’s own markers without a bar',
      exchange: raw(chatMl.replaceAll('|>', '>'), qwen3),
      findings: [{ cause: 'malformed', tokens: { start: 0, end: 8 } }],
    },
    {
      name: 'an answer that opens with such a one',
      exchange: raw(`${ml('user', 'Hi')}<im_start>assistant\n`, qwen3),
      findings: [{ cause: 'malformed' }],
    },
    {
      name: 'a role that was never filled in',
      exchange: raw('<|im_start|>{role}\n{content}<|im_end|>\n', qwen3),
      findings: [{ cause: 'malformed', characters: { start: 0, end: 18 }, tokens: { start: 0, end: 8 } }],
    },
    {
      name: 'a generation prompt that was not',
      exchange: raw(`${ml('user', 'Hi')}<|im_start|>{{ role }}\n`, qwen3),
      findings: [{ cause: 'malformed', characters: { start: 30, end: 52 } }],
    },
    {
      name: 'what a language prints where there is no role',
      exchange: raw(`<|im_start|>undefined\nHi<|im_end|>\n${mlAsk}`, qwen3),
      findings: [{ cause: 'malformed' }],
    },
    {
      name: 'one prompt of a batch',
      exchange: {
        route: 'completion',
        body: { prompt: [ownGemma, chatMl] },
        facts: asked,
        ids: [[2], [2, 5]],
      },
      findings: [{ promptIndex: 1, field: 'prompt[1]' }],
    },
    {
      name: 'a conversation as a message',
      exchange: user(chatMl),
      findings: [
        {
          cause: 'not-in-vocabulary',
          severity: 'error',
          culprit: 'client',
          field: 'messages[0].content',
          characters: { start: 0, end: chatMl.length },
          tokens: { start: 0, end: 6 + chatMl.length },
        },
      ],
    },
    {
      name: 'one that waits for an answer, beside instructions',
      exchange: judged(chatMl),
      findings: [{ field: 'messages[1].content' }],
    },
    {
      name: 'one whose last opening the model is to close',
      exchange: user('<|start|>user<|message|>Hi<|end|><|start|>assistant'),
      findings: [{ cause: 'other-template' }],
    },
    { name: 'a question alone', exchange: user(ml('user', 'Hi')), findings: [{}] },
    { name: 'bare markers as a message', exchange: user('[INST] Hi [/INST]'), findings: [{}] },
    {
      name: 'misspelt markers of the model’s own as a message',
      exchange: user(ownGemma.replaceAll('<', '<|')),
      findings: [{ cause: 'malformed' }],
    },
    {
      name: 'a message of which the engine shows no rendered text: it has no place',
      exchange: { ...user(chatMl), text: '', ids: ['engine-cannot'] },
      findings: [{ cause: 'not-in-vocabulary' }],
    },
    ...markerFamilies.map(({ family, openings, ends: [end = ''] }) => {
      const turns = ['user', 'assistant'].map((role) => {
        const { start, named, close } =
          openings.find((one) => new RegExp(role, 'i').test(one.start)) ?? openings[0]!;
        return named ? start + role + close : start + close;
      });
      const answer = openings.length === 1 && !openings[0]!.named ? '' : turns[1]!;
      return {
        name: `the form of ${family}`,
        exchange: raw(`${turns[0]!}Hi${end}${answer}`, family === 'ChatML' ? gemma3 : qwen3),
        findings: [{ cause: 'other-template' }],
      };
    }),
  ],
});
