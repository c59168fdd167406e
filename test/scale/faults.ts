// One fault injected into an otherwise clean request: what must be found, and on which models it can happen.
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { breakFaults } from './break-faults.ts';
import {
  chatOf,
  messagesOf,
  rawOf,
  tools,
  type EngineQuestions,
  type Message,
  type PlannedRequest,
} from './requests.ts';
import type { Dice } from './dice.ts';
import { chatMl, type ScaleFamily } from './families.ts';
import { sentence, systemText, text } from './texts.ts';

export interface Fault {
  /** The kind that must be found in the last request; the others before it are clean. */
  readonly kind: string;
  /** Where one kind has several that must be told apart. */
  readonly cause?: string;
  readonly fits: (family: ScaleFamily) => boolean;
  /** A fact of the engine: told once per process, however often a request shows it. */
  readonly toldOnce?: boolean;
  /** The model's template with this in front of it: the fault is the template's. */
  readonly templatePrefix?: string;
  /** A model file in the place of the family's: the fault is the file's. */
  readonly file?: () => Promise<string>;
  readonly inject: (
    dice: Dice,
    family: ScaleFamily,
    engine: EngineQuestions,
  ) => PlannedRequest[] | Promise<PlannedRequest[]>;
}

const instruct = ({ base }: ScaleFamily): boolean => base !== true;
const addsBos = ({ bos }: ScaleFamily): boolean => bos !== undefined;

/** What the template writes from the end of a user's text to the beginning of the next one's. */
async function forgedTurn({ render }: EngineQuestions): Promise<string> {
  const rendered = await render({
    messages: [
      { role: 'user', content: 'WEIRA' },
      { role: 'assistant', content: 'Fine.' },
      { role: 'user', content: 'WEIRB' },
    ],
  });
  return rendered.slice(rendered.indexOf('WEIRA') + 'WEIRA'.length, rendered.indexOf('WEIRB'));
}

function withoutSystem(messages: readonly Message[]): Message[] {
  return messages.filter(({ role }) => role !== 'system');
}

export const faults: readonly Fault[] = [
  {
    kind: 'double-bos',
    fits: addsBos,
    inject: async (dice, { bos, base }, { render }) => [
      rawOf(`${bos ?? ''}${base === true ? text(dice) : await render({ messages: messagesOf(dice) })}`),
    ],
  },
  {
    kind: 'missing-bos',
    fits: (family) => instruct(family) && addsBos(family),
    inject: async (dice, _family, { render, tokenize }) => {
      const ids = await tokenize(await render({ messages: messagesOf(dice) }));
      return [rawOf(ids.slice(1))];
    },
  },
  {
    kind: 'raw-prompt',
    fits: instruct,
    inject: (dice) => [rawOf(text(dice))],
  },
  {
    kind: 'stringified-prompt',
    fits: instruct,
    inject: (dice) => [
      rawOf(
        dice.pick([
          `System: ${systemText(dice)}\nHuman: ${sentence(dice)}\nAI: Fine.\nHuman: ${sentence(dice)}\nAI:`,
          `### Instruction:\n${sentence(dice)}\n\n### Response:\n`,
        ]),
      ),
    ],
  },
  {
    kind: 'stringified-prompt',
    fits: instruct,
    inject: (dice) => [
      rawOf(
        `[SystemMessage(content='You are terse.'), HumanMessage(content='${sentence(dice).replaceAll("'", '’')}')]`,
      ),
    ],
  },
  {
    kind: 'foreign-template',
    fits: instruct,
    inject: (dice, { foreign }) => {
      const end = foreign.startsWith('<|im_start|>')
        ? '<|im_end|>\n'
        : foreign.startsWith('<start_of_turn>')
          ? '<end_of_turn>\n'
          : '<|eot_id|>';
      const opening = foreign.replace('user', 'assistant');
      return [rawOf(`${foreign}${text(dice)}${end}${opening}`)];
    },
  },
  {
    kind: 'foreign-template',
    cause: 'unended-turn',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, _family, engine) => {
      const [end = ''] = /<[^<>\s]+>/.exec(await forgedTurn(engine)) ?? [];
      const opened = await engine.render({ messages: messagesOf(dice) });
      const at = opened.lastIndexOf(end);
      return [
        rawOf(dice.pick([opened.slice(0, at) + opened.slice(at + end.length), opened.replaceAll(end, '')])),
      ];
    },
  },
  {
    // A marker with one character left out, or two that changed places.
    kind: 'foreign-template',
    cause: 'malformed',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, _family, engine) => {
      const markers = (await forgedTurn(engine)).match(/<[^<>\s]+>/g) ?? [];
      const marker = dice.pick(markers);
      const [at, swap] = [dice.between(2, marker.length - 3), dice.chance(0.5)];
      const wrong = swap
        ? marker.slice(0, at) + (marker[at + 1] ?? '') + (marker[at] ?? '') + marker.slice(at + 2)
        : marker.slice(0, at) + marker.slice(at + 1);
      return [rawOf((await engine.render({ messages: messagesOf(dice) })).replaceAll(marker, wrong))];
    },
  },
  {
    kind: 'nested-template',
    fits: instruct,
    inject: async (dice, _family, { render }) => [
      chatOf([{ role: 'user', content: await render({ messages: withoutSystem(messagesOf(dice, 1)) }) }]),
    ],
  },
  {
    kind: 'nested-template',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, _family, { render }) => {
      const inner = await render({ messages: [{ role: 'user', content: sentence(dice) }] });
      return [rawOf(await render({ messages: [{ role: 'user', content: inner }] }))];
    },
  },
  {
    kind: 'control-token-in-content',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, _family, engine) => [
      chatOf([
        ...messagesOf(dice, 0).slice(0, -1),
        { role: 'user', content: `${sentence(dice)}${await forgedTurn(engine)}${sentence(dice)}` },
      ]),
    ],
  },
  {
    // A single marker forms nothing, and is told all the same.
    kind: 'control-token-in-content',
    cause: 'isolated',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, _family, engine) => {
      const marker = /<[^<>\s]+>/.exec(await forgedTurn(engine))?.[0] ?? '';
      return [chatOf([{ role: 'user', content: `What does ${marker} mean here? ${sentence(dice)}` }])];
    },
  },
  {
    kind: 'missing-generation-prompt',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, _family, { render }) => [
      rawOf(await render({ messages: messagesOf(dice), add_generation_prompt: false })),
    ],
  },
  {
    kind: 'missing-generation-prompt',
    cause: 'other-role',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, { name }, { render }) => {
      const opened = await render({ messages: messagesOf(dice) });
      const [own, others] =
        name === 'gemma3' ? ['model', ['assistant', 'bot']] : ['assistant', ['model', 'bot', 'gpt']];
      const at = opened.lastIndexOf(own);
      return [rawOf(opened.slice(0, at) + dice.pick(others) + opened.slice(at + own.length))];
    },
  },
  {
    kind: 'missing-generation-prompt',
    cause: 'other-blank',
    fits: ({ name }) => ['qwen3', 'gemma3', 'llama3.1', 'chatml'].includes(name),
    inject: async (dice, _family, { render }) => [
      rawOf((await render({ messages: messagesOf(dice) })) + dice.pick([' ', '\n', '  ', '\n\n'])),
    ],
  },
  {
    kind: 'trailing-assistant',
    fits: instruct,
    inject: (dice) => [chatOf([...messagesOf(dice), { role: 'assistant', content: '' }])],
  },
  {
    kind: 'parameter-ignored',
    fits: instruct,
    toldOnce: true,
    inject: (dice) => [
      chatOf(messagesOf(dice), { documents: [{ title: 'Tides', text: `Zwei Stände: ${sentence(dice)}` }] }),
    ],
  },
  ...breakFaults,
  {
    kind: 'context-overflow',
    cause: 'prompt-too-long',
    fits: () => true,
    inject: (dice, { base }) => {
      const long = `${sentence(dice)} `.repeat(8000);
      return [base === true ? rawOf(long) : chatOf([{ role: 'user', content: long }])];
    },
  },
  {
    kind: 'tools-dropped',
    fits: ({ tools: knows }) => knows === true,
    templatePrefix: '{%- set tools = none -%}',
    inject: (dice) => [chatOf(messagesOf(dice), { tools })],
  },
  {
    kind: 'tools-dropped',
    cause: 'unread-field',
    fits: instruct,
    inject: (dice) => [
      chatOf(messagesOf(dice), { functions: tools.map(({ function: definition }) => definition) }),
    ],
  },
  {
    kind: 'content-lost',
    cause: 'unread-field',
    fits: instruct,
    inject: (dice) => [chatOf([{ role: 'user', content: '', text: `Tell me this: ${sentence(dice)}` }])],
  },
  {
    kind: 'content-lost',
    cause: 'unknown-role',
    fits: ({ name }) => name === 'qwen3',
    inject: (dice) => [
      chatOf([
        { role: 'critic', content: `What is wrong with it: ${sentence(dice)}` },
        { role: 'user', content: sentence(dice) },
      ]),
    ],
  },
  {
    kind: 'content-lost',
    cause: 'sent-role',
    // Others leave such messages out, or refuse them.
    fits: ({ name }) => name === 'llama3.1' || name === 'chatml',
    inject: (dice) => [
      chatOf([
        { role: dice.pick(['User', 'human', 'USER']), content: sentence(dice) },
        { role: dice.pick(['assistant', 'ai', 'bot', 'model']), content: `It is this: ${sentence(dice)}` },
        { role: 'user', content: sentence(dice) },
      ]),
    ],
  },
  {
    kind: 'template-missing',
    fits: ({ base }) => base === true,
    toldOnce: true,
    inject: (dice) => [chatOf(messagesOf(dice))],
  },
  {
    kind: 'unwanted-bos',
    fits: ({ name }) => name === 'chatml',
    toldOnce: true,
    file: () =>
      byteModelFile({
        name: 'scale-unwanted-bos',
        markers: ['<|im_start|>', '<|im_end|>'],
        eos: '<|im_end|>',
        namesBos: false,
        addBos: true,
        chatTemplate: chatMl,
      }),
    inject: (dice) => [chatOf(messagesOf(dice))],
  },
  {
    kind: 'content-lost',
    fits: instruct,
    templatePrefix: '{%- if messages|length > 2 -%}{%- set messages = messages[-1:] -%}{%- endif -%}',
    inject: (dice) => [chatOf(messagesOf(dice, 2))],
  },
];
