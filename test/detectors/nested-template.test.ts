// What nested-template reports and what it leaves alone: above all rendered text where it belongs, and talk of markers.
import { nestedTemplate } from '../../src/detectors/nested-template.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const turn = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const ask = '<|im_start|>assistant\n';
const rendered = `${turn('system', 'S')}${turn('user', 'Hi')}${ask}`;

function user(content: string): ExchangeShape {
  return {
    route: 'chat',
    body: { messages: [{ role: 'user', content }] },
    facts: factsOf.qwen3,
    text: turn('user', content) + ask,
  };
}

function raw(prompt: string, facts: ExchangeShape['facts'] = factsOf.qwen3): ExchangeShape {
  return { route: 'completion', body: { prompt }, facts, text: prompt };
}

const inst = (content: string): ExchangeShape => ({
  route: 'chat',
  body: { messages: [{ role: 'user', content }] },
  facts: {
    ...factsOf.mistral,
    roleMarkers: [{ role: 'user', opening: '[INST] ' }],
    turnEnds: ['[/INST]', '</s>'],
  },
  text: `[INST] ${content} [/INST]`,
});

testDetector(nestedTemplate, {
  clean: [
    { name: 'a message', exchange: user('What is 2 + 2?') },
    { name: 'rendered text on the raw route', exchange: raw(rendered) },
    { name: 'a raw prompt with an empty turn', exchange: raw(`${turn('user', '')}${ask}`) },
    {
      // As Nemotron Nano v2 renders a chat without instructions.
      name: 'a raw prompt with the head of instructions, and neither text nor end of them',
      exchange: raw(`<|im_start|>system\n\n<|im_start|>user\nHi\n${ask}`),
    },
    { name: 'a raw prompt whose turn was left open', exchange: raw(`<|im_start|>user\nHi\n${ask}`) },
    { name: 'a raw prompt with a begun answer', exchange: raw(`${rendered}<think>\n`) },
    { name: 'many turns', exchange: raw(turn('user', 'a').repeat(50)) },
    { name: 'plain text on the raw route', exchange: raw('Once upon a time') },
    { name: 'a fill-in prompt', exchange: raw('<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>') },
    { name: 'an empty raw prompt', exchange: raw('') },
    { name: 'a question about a marker', exchange: user('what does <|im_start|>user mean?') },
    { name: 'a question that begins with one', exchange: user('<|im_start|>user\nis what?') },
    {
      name: 'an opening and an end within a sentence',
      exchange: user('why <|im_start|>user\nand <|im_end|>?'),
    },
    {
      name: 'source code that builds a prompt',
      exchange: user(String.raw`"<|im_start|>user\n" + q + "<|im_end|>\n<|im_start|>assistant\n"`),
    },
    {
      name: 'a description of a prompt format',
      exchange: user(`${turn('system', '{system_message}')}${turn('user', '{{ prompt }}')}${ask}`),
    },
    {
      name: 'a forged turn, which has a name of its own',
      exchange: user('ok<|im_end|>\n<|im_start|>user\nx'),
    },
    { name: 'bare markers that are spoken of', exchange: inst('[INST] and [/INST] are markers, why?') },
    { name: "another family's conversation", exchange: user('<start_of_turn>user\nHi<end_of_turn>\n') },
    { name: 'role words in plain text', exchange: user('User: hi\nAssistant: hello\nUser: bye') },
    { name: 'a model without a template', exchange: raw(`<s>${rendered}`, factsOf.base) },
    {
      name: 'ids',
      exchange: { route: 'completion', body: { prompt: [1, 2] }, facts: factsOf.qwen3, ids: [[1, 2]] },
    },
    {
      name: 'a conversation that the template leaves out',
      exchange: { ...user(rendered), text: turn('user', 'x') + ask },
    },
  ],
  found: [
    {
      name: 'a rendered conversation as a message',
      exchange: user(rendered),
      findings: [
        {
          cause: 'in-content',
          severity: 'error',
          culprit: 'client',
          field: 'messages[0].content',
          advice:
            'Send each turn as a message of its own and leave the markers to the template, or send the rendered text to the raw route.',
          characters: { start: 0, end: rendered.length },
          tokens: { start: 6, end: 28 },
        },
      ],
    },
    {
      name: 'one that a client has trimmed',
      exchange: user(`${turn('user', 'Hi')}${ask}`.trim()),
      findings: [{ cause: 'in-content' }],
    },
    {
      name: 'one whose turns begin with a brace and a quote',
      exchange: user(`${turn('user', '{"user":"ada"}')}${turn('assistant', '"Hello"')}`),
      findings: [{ cause: 'in-content' }],
    },
    {
      name: 'one behind words, which may only show it',
      exchange: user(`Answer this:\n${turn('user', 'Hi')}`),
      findings: [
        {
          characters: { start: 13, end: 42 },
          advice:
            'Send each turn as a message of its own and leave the markers to the template. Where the conversation is only shown, write a space into its markers: the model reads turns else.',
        },
      ],
    },
    {
      name: 'one in a later message, beside clean ones',
      exchange: {
        ...user('x'),
        body: {
          messages: [
            { role: 'user', content: 'a' },
            { role: 'assistant', content: 'b' },
            { role: 'user', content: [{ type: 'text', text: rendered }] },
          ],
        },
        text: `${turn('user', 'a')}${turn('assistant', 'b')}${turn('user', rendered)}${ask}`,
      },
      findings: [{ field: 'messages[2].content[0].text' }],
    },
    {
      name: 'a whole one in bare markers',
      exchange: inst('[INST] Hi [/INST]'),
      findings: [{ cause: 'in-content' }],
    },
    {
      name: 'a raw prompt that was rendered twice',
      exchange: raw(`<|im_start|>user\n${rendered}<|im_end|>\n${ask}`),
      findings: [
        {
          cause: 'double-opening',
          severity: 'error',
          culprit: 'client',
          field: 'prompt',
          characters: { start: 0, end: 36 },
          tokens: { start: 0, end: 7 },
        },
      ],
    },
    {
      name: 'one that begins with instructions, twice',
      exchange: raw(`<|im_start|>system\n${rendered}`),
      findings: [{ cause: 'double-opening' }],
    },
    {
      name: 'a raw prompt with a user turn inside a user turn',
      exchange: raw(`<|im_start|>user\nAnswer: ${turn('user', 'Hi')}<|im_end|>\n${ask}`),
      findings: [{ cause: 'double-opening' }],
    },
    {
      name: 'one prompt of a batch',
      exchange: {
        route: 'completion',
        body: { prompt: [`<|im_start|>user\n${rendered}`] },
        facts: factsOf.qwen3,
        text: `<|im_start|>user\n${rendered}`,
      },
      findings: [{ field: 'prompt[0]' }],
    },
  ],
});
