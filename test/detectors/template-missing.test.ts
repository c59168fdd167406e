// What counts as a template that is not the model's own, and the plain ones that are.
import { templateMissing } from '../../src/detectors/template-missing.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const chat = (facts: ModelFacts, rest: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'chat',
  body: { messages },
  facts,
  ids: ['oracle-refused'],
  ...rest,
});

/** A template with these openings, served to that vocabulary. */
const served = (facts: ModelFacts, user: string, assistant: string, end = ''): ModelFacts => ({
  ...facts,
  generationPrompt: { text: assistant, ids: [9] },
  turnEnds: end === '' ? [] : [end],
  roleMarkers: [
    { role: 'user', opening: user },
    { role: 'assistant', opening: assistant },
  ],
});
const chatMl = (facts: ModelFacts): ModelFacts =>
  served(facts, '<|im_start|>user\n', '<|im_start|>assistant\n', '<|im_end|>');
const llama3 = '<|start_header_id|>user<|end_header_id|>\n\n';
const plain = factsOf.plainTurns;
/** A Llama 3 that was tuned on ChatML: it has the tokens of both. */
const bothFamilies: ModelFacts = {
  ...factsOf.qwen3,
  markers: [
    ...factsOf.qwen3.markers,
    { text: '<|start_header_id|>', id: 128_006 },
    { text: '<|end_header_id|>', id: 128_007 },
    { text: '<|eot_id|>', id: 128_009 },
  ],
};
const llama3Turns = (facts: ModelFacts): ModelFacts =>
  served(facts, llama3, llama3.replace('user', 'assistant'), '<|eot_id|>');

testDetector(templateMissing, {
  clean: [
    ...(['gemma3', 'qwen3', 'glm', 'mistral', 'unopened', 'plainTurns', 'bare', 'base'] as const).map(
      (family) => ({ name: `a model as it is: ${family}`, exchange: chat(factsOf[family]) }),
    ),
    {
      name: 'plain words of a model that stops where its template ends a turn',
      exchange: chat(served(factsOf.qwen3, 'USER: ', 'ASSISTANT:', '<|im_end|>')),
    },
    {
      name: 'plain words of a model that stops at the end of no form of turns',
      exchange: chat(
        served({ ...factsOf.qwen3, eos: { text: '<|endoftext|>', id: 151_643 } }, 'USER: ', 'ASSISTANT:'),
      ),
    },
    {
      name: 'plain words by name, of a model that has been trained on nothing else',
      exchange: chat({ ...served(plain, 'USER: ', 'ASSISTANT:', '</s>'), templateName: 'vicuna' }),
    },
    {
      name: "the model's own form by name",
      exchange: chat({ ...chatMl(factsOf.qwen3), templateName: 'qwen' }),
    },
    { name: 'ChatML that is the own template', exchange: chat(chatMl(factsOf.qwen3)) },
    ...[
      ['Alpaca', '### Instruction:\n', '### Response:\n'],
      ['Vicuna', 'USER: ', 'ASSISTANT: '],
      ['Llama 2, with INST as text', '[INST] ', '[/INST]'],
      ['Zephyr, with its markers as text', '<|user|>\n', '<|assistant|>\n'],
      ['Danube, with its markers as text', '<|prompt|>', '<|answer|>'],
      ['OpenChat', 'GPT4 Correct User: ', 'GPT4 Correct Assistant: '],
    ].map(([name = '', user = '', assistant = '']) => ({
      name,
      exchange: chat(served(plain, user, assistant)),
    })),
    {
      name: 'a request that brings its own template',
      exchange: chat(factsOf.defaultTemplate, { body: { messages, chat_template: '{{ messages }}' } }),
    },
    {
      name: 'a text on a raw route',
      exchange: {
        route: 'completion',
        body: { prompt: 'Hi' },
        facts: factsOf.defaultTemplate,
        ids: [[1, 5]],
      },
    },
    { name: 'the tokens of two families, and the template that stops right', exchange: chat(bothFamilies) },
    {
      name: "a stop token of no family's",
      exchange: chat({
        ...llama3Turns(bothFamilies),
        eos: { text: '<|endoftext|>', id: 151_643 },
      }),
    },
    {
      name: "a stop token of a family that the vocabulary lacks (Granite's is Llama's end of text)",
      exchange: chat({
        ...llama3Turns(bothFamilies),
        markers: [...bothFamilies.markers, { text: '<|end_of_text|>', id: 128_001 }],
        eos: { text: '<|end_of_text|>', id: 128_001 },
      }),
    },
  ],
  found: [
    {
      name: "the engine's default in a vocabulary without its markers, at the first of them",
      exchange: chat(factsOf.defaultTemplate, {
        text: '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
        ids: [[1, 60, 124, 105, 62, 117, 10, 72]],
      }),
      findings: [
        {
          cause: 'engine-default',
          fact: 'engine-default',
          severity: 'error',
          culprit: 'engine',
          tokens: { start: 1, end: 5 },
          message:
            "The engine serves its own default template, not the model's: what opens its turns (<|im_start|>) is no token of this vocabulary, and reaches the model as ordinary text.",
        },
      ],
    },
    {
      name: 'the same of a prompt that is not known',
      exchange: chat(factsOf.defaultTemplate),
      findings: [{ cause: 'engine-default', severity: 'error' }],
    },
    {
      name: "the engine's default in a vocabulary that has its markers",
      exchange: chat(
        { ...factsOf.qwen3, templateOrigin: 'default' },
        {
          text: '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
          ids: [[151_644, 872, 198, 13_048]],
        },
      ),
      findings: [{ cause: 'engine-default', severity: 'warning', tokens: { start: 0, end: 1 } }],
    },
    {
      name: "a template's name in place of a template: the whole prompt",
      exchange: chat(
        { ...factsOf.bare, templateOrigin: 'name', templateFirstLine: 'llama3' },
        { text: 'llama3', ids: [[1, 5, 6]] },
      ),
      findings: [
        {
          cause: 'name-only',
          severity: 'error',
          culprit: 'engine',
          tokens: { start: 0, end: 3 },
          message:
            'The engine takes the name of a template ("llama3") for the template: every prompt is this word, and nothing of the messages is in it.',
        },
      ],
    },
    {
      name: 'no template at all, and chats that are refused',
      exchange: chat({ ...factsOf.base, templateOrigin: 'none' }),
      findings: [{ cause: 'no-template', severity: 'error', culprit: 'model-file' }],
    },
    {
      name: 'markers of another family than the vocabulary has',
      exchange: chat(chatMl(factsOf.gemma3)),
      findings: [
        {
          cause: 'unknown-markers',
          severity: 'error',
          culprit: 'template',
          message:
            'The chat template opens turns with <|im_start|>, which is no token of this vocabulary and reaches the model as ordinary text; the vocabulary has what opens turns of another (<start_of_turn>).',
        },
      ],
    },
    {
      name: 'markers in a vocabulary without any, which may have been trained so',
      exchange: chat(chatMl(plain)),
      findings: [{ cause: 'unknown-markers', severity: 'warning' }],
    },
    ...[
      ['Alpaca', '### Instruction:\n', '### Response:\n', ''],
      ['Vicuna', 'USER: ', 'ASSISTANT:', '</s>'],
    ].map(([name = '', user = '', assistant = '', end = '']) => ({
      name: `plain words (${name}) for a model that stops at the end of a ChatML turn`,
      exchange: chat(
        served(
          { ...factsOf.qwen3, markers: [...factsOf.qwen3.markers, { text: '</s>', id: 522 }] },
          user,
          assistant,
          end,
        ),
      ),
      findings: [
        {
          cause: 'other-stop-token',
          severity: 'info' as const,
          culprit: 'template' as const,
          message: `The model stops at <|im_end|>, which the chat template never writes: it opens turns with ${JSON.stringify(user.trim())}, and the vocabulary has what opens the turns that end so (<|im_start|>). A model that was tuned on these words is served right; which one this is can't be told from outside.`,
          advice:
            'If the model was trained on the form that ends so, whoever serves it must start the engine with that template; if it was tuned on these words, nothing is wrong.',
        },
      ],
    })),
    {
      name: 'plain words that the engine took by name, for a model that stops at the end of a ChatML turn',
      exchange: chat({ ...served(factsOf.qwen3, 'USER: ', 'ASSISTANT:', '</s>'), templateName: 'vicuna' }),
      findings: [
        {
          cause: 'other-stop-token',
          severity: 'warning',
          culprit: 'engine',
          message:
            'The engine was told to take a template of its own by name ("vicuna"), not the model\'s. The model stops at <|im_end|>, which the chat template never writes: it opens turns with "USER:", and the vocabulary has what opens the turns that end so (<|im_start|>).',
        },
      ],
    },
    {
      name: 'the markers of one family, and the stop token of the other',
      exchange: chat(llama3Turns(bothFamilies)),
      findings: [
        {
          cause: 'other-stop-token',
          severity: 'warning',
          culprit: 'template',
          message:
            'The model stops at <|im_end|>, which the chat template never writes: it opens turns with <|start_header_id|>, and the vocabulary has what opens the turns that end so (<|im_start|>).',
        },
      ],
    },
  ],
});
