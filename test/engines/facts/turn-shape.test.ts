import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { probeTexts, turnShapeOf, type TurnShape } from '../../../src/engines/facts/turn-shape.ts';
import { compileMarkers } from '../../../src/tokens/markers.ts';

type Role = 'system' | 'user' | 'assistant';
interface Message {
  readonly role: Role;
  readonly text: string;
}
/** A template of a few lines, as a function. */
type Template = (messages: readonly Message[], options: { open: boolean; thinking: boolean }) => string;

const turns: readonly Message[] = [
  { role: 'user', text: probeTexts.firstUser },
  { role: 'assistant', text: probeTexts.assistant },
  { role: 'user', text: probeTexts.lastUser },
];
const conversation: readonly Message[] = [{ role: 'system', text: probeTexts.system }, ...turns];

function shapeOf(template: Template, markers: readonly string[], bosText = ''): TurnShape {
  const ready = { open: false, thinking: true };
  return turnShapeOf(
    {
      whole: template(conversation, ready),
      withoutSystem: template(turns, ready),
      open: template(conversation, { ...ready, open: true }),
      thinkingOff: template(conversation, { ...ready, thinking: false }),
    },
    { bosText, eosText: '</s>', markers: compileMarkers(markers.map((text, id) => ({ text, id }))) },
  );
}

function openingsOf({ roleMarkers }: TurnShape): Partial<Record<Role, string>> {
  return Object.fromEntries(roleMarkers.map(({ role, opening }) => [role, opening]));
}

const chatMl: Template = (messages, { open, thinking }) =>
  messages.map(({ role, text }) => `<|im_start|>${role}\n${text}<|im_end|>\n`).join('') +
  (open ? '' : `<|im_start|>assistant\n${thinking ? '' : '<think>\n\n</think>\n\n'}`);
const chatMlMarkers = ['<|im_start|>', '<|im_end|>', '<think>', '</think>'];

interface Case {
  readonly template: Template;
  readonly markers: readonly string[];
  readonly bos?: string;
  readonly openings: Partial<Record<Role, string>>;
  readonly turnEnds: readonly string[];
  /** @defaultValue undefined: nothing is known to end each user's turn */
  readonly userTurnEnd?: string | undefined;
  readonly generationPrompt: string;
  /** @defaultValue '' */
  readonly thinkTail?: string;
}

const chatMlShape = {
  markers: chatMlMarkers,
  openings: {
    system: '<|im_start|>system\n',
    user: '<|im_start|>user\n',
    assistant: '<|im_start|>assistant\n',
  },
  turnEnds: ['<|im_end|>'],
  userTurnEnd: '<|im_end|>',
  generationPrompt: '<|im_start|>assistant\n',
};

const cases: Readonly<Record<string, Case>> = {
  'turns that all look alike': { ...chatMlShape, template: chatMl, thinkTail: '<think>\n\n</think>\n\n' },
  'instructions of its own where the client sends none': {
    ...chatMlShape,
    template: (messages, options) =>
      chatMl(
        messages[0]?.role === 'system' ? messages : [{ role: 'system', text: 'Be good.' }, ...messages],
        { ...options, thinking: true },
      ),
  },
  'instructions of its own around those of the client': {
    ...chatMlShape,
    template: (messages, options) =>
      chatMl(
        messages.map(({ role, text }) => ({ role, text: role === 'system' ? `# Rules\n\n${text}\n` : text })),
        { ...options, thinking: true },
      ),
  },
  'a turn of its own before the instructions': {
    ...chatMlShape,
    template: (messages, options) =>
      chatMl([{ role: 'system', text: 'x'.repeat(300) }, ...messages], { ...options, thinking: true }),
  },
  'a generation prompt whether or not it is wanted': {
    ...chatMlShape,
    userTurnEnd: undefined,
    template: (messages) => chatMl(messages, { open: false, thinking: true }),
  },
  'no generation prompt at all': {
    ...chatMlShape,
    generationPrompt: '',
    userTurnEnd: undefined,
    template: (messages) => chatMl(messages, { open: true, thinking: true }),
  },
  'an assistant that ends as no user does': {
    template: (messages, { open }) =>
      messages
        .map(({ role, text }) =>
          role === 'assistant' ? `<A>${text}<ANSWERED><END>\n` : `<${role}>${text}<END>\n`,
        )
        .join('') + (open ? '' : '<A>'),
    markers: ['<A>', '<system>', '<user>', '<END>', '<ANSWERED>'],
    openings: { system: '<system>', user: '<user>', assistant: '<A>' },
    turnEnds: ['<END>', '<ANSWERED><END>'],
    userTurnEnd: '<END>',
    generationPrompt: '<A>',
  },
  'XML elements of which only the names differ': {
    template: (messages, { open }) =>
      messages.map(({ role, text }) => `<${role}>\n${text}\n</${role}>\n`).join('') +
      (open ? '' : '<assistant>\n'),
    markers: ['system', 'user', 'assistant'].flatMap((role) => [`<${role}>`, `</${role}>`]),
    openings: { system: '<system>\n', user: '<user>\n', assistant: '<assistant>\n' },
    userTurnEnd: '</user>',
    turnEnds: ['</user>', '</assistant>'],
    generationPrompt: '<assistant>\n',
  },
  'an end that is the next role, which is EOS too': {
    template: (messages, { open }) =>
      '[P]<q>' + messages.map(({ role, text }) => `</${role[0]!}>\n${text}`).join('') + (open ? '' : '</a>'),
    markers: ['[P]', '<q>', '</s>', '</u>', '</a>'],
    openings: { system: '</s>\n', user: '</u>\n', assistant: '</a>\n' },
    turnEnds: [],
    generationPrompt: '</a>',
  },
  'instructions inside the first user turn': {
    template: (messages, { open }) =>
      messages
        .map(({ role, text }, index) =>
          role === 'system'
            ? `<turn>user\n${text}\n\n`
            : `${messages[index - 1]?.role === 'system' ? '' : `<turn>${role}\n`}${text}<end>\n`,
        )
        .join('') + (open ? '' : '<turn>assistant\n'),
    markers: ['<turn>', '<end>'],
    openings: { system: '<turn>user\n', user: '<turn>user\n', assistant: '<turn>assistant\n' },
    userTurnEnd: '<end>',
    turnEnds: ['<end>'],
    generationPrompt: '<turn>assistant\n',
  },
  'instructions that move to the last question': {
    template: (messages) => {
      const instructions = messages.find(({ role }) => role === 'system')?.text;
      return messages
        .filter(({ role }) => role !== 'system')
        .map(({ role, text }, index, all) => {
          const moved = index === all.length - 1 && instructions !== undefined ? `${instructions}\n\n` : '';
          return role === 'user' ? `[INST]${moved}${text}[/INST]` : `${text}</s>`;
        })
        .join('');
    },
    markers: ['[INST]', '[/INST]', '</s>'],
    openings: { user: '[INST]', assistant: '[/INST]' },
    turnEnds: ['</s>'],
    generationPrompt: '[/INST]',
  },
  'BOS in front of every turn, and nothing but a name behind it': {
    template: (messages, { open }) =>
      messages.map(({ role, text }) => `<s>${role}\n${text}</s>`).join('') + (open ? '' : '<s>assistant\n'),
    markers: ['<s>', '</s>'],
    bos: '<s>',
    openings: { system: '<s>system\n', user: '<s>user\n', assistant: '<s>assistant\n' },
    userTurnEnd: '</s>',
    turnEnds: ['</s>'],
    generationPrompt: '<s>assistant\n',
  },
  'BOS in front of every question, and a form behind it': {
    template: (messages) =>
      messages
        .map(({ role, text }) => (role === 'assistant' ? ` ${text} </s>` : `<s>[INST] ${text} [/INST]`))
        .join('')
        .replace('[/INST]<s>[INST] ', ''),
    markers: ['<s>', '</s>'],
    bos: '<s>',
    openings: { system: '[INST] ', user: '[INST] ', assistant: '[/INST] ' },
    turnEnds: ['</s>'],
    generationPrompt: '[/INST]',
  },
  'roles as plain words': {
    template: (messages) =>
      messages.map(({ role, text }) => `${role}: ${text}\n\n`).join('') + 'assistant: <think>',
    markers: ['<think>'],
    openings: { system: 'system: ', user: 'user: ', assistant: 'assistant: ' },
    turnEnds: [],
    generationPrompt: 'assistant: <think>',
  },
  'no sign of a role': {
    template: (messages) => messages.map(({ text }) => text).join('\n'),
    markers: [],
    openings: {},
    turnEnds: [],
    generationPrompt: '',
  },
  'a refusal of everything': {
    template: () => '',
    markers: [],
    openings: {},
    turnEnds: [],
    generationPrompt: '',
  },
};

describe('the shape of turns', () => {
  for (const [name, { template, markers, bos, ...expected }] of Object.entries(cases)) {
    it(`is read off a template with ${name}`, () => {
      const shape = shapeOf(template, markers, bos);
      assert.deepEqual(openingsOf(shape), expected.openings);
      assert.deepEqual(shape.turnEnds, expected.turnEnds);
      assert.equal(shape.userTurnEnd, expected.userTurnEnd);
      assert.equal(shape.generationPrompt, expected.generationPrompt);
      assert.equal(shape.thinkTail, expected.thinkTail ?? '');
    });
  }

  it('is read off the turns alone where a system message is refused', () => {
    const withoutSystem = chatMl(turns, { open: false, thinking: true });
    const shape = turnShapeOf(
      {
        whole: withoutSystem,
        withoutSystem,
        open: chatMl(turns, { open: true, thinking: true }),
        thinkingOff: chatMl(turns, { open: false, thinking: false }),
      },
      { bosText: '', eosText: '', markers: compileMarkers([]) },
    );
    assert.deepEqual(openingsOf(shape), {
      user: '<|im_start|>user\n',
      assistant: '<|im_start|>assistant\n',
    });
    assert.equal(shape.thinkTail, '<think>\n\n</think>\n\n');
  });
});
