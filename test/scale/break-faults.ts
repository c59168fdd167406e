// Faults of the second of two turns that break the prefix of the first: one for each thing that a client may change.
import type { Dice } from './dice.ts';
import type { ScaleFamily } from './families.ts';
import type { Fault } from './faults.ts';
import { chatOf, messagesOf, tools, type Message } from './requests.ts';
import { answer, sentence, systemText, text } from './texts.ts';

const instruct = ({ base }: ScaleFamily): boolean => base !== true;
/** Others refuse two questions in a row, or write instructions elsewhere than where they stand. */
const takesAnyOrder = ({ name }: ScaleFamily): boolean => ['qwen3', 'llama3.1', 'chatml'].includes(name);

const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string): Message => ({ role: 'user', content });

function withoutSystem(messages: readonly Message[]): Message[] {
  return messages.filter(({ role }) => role !== 'system');
}

/** @param texts of the two turns */
function changedSystem(cause: string, texts: (dice: Dice) => readonly [string, string]): Fault {
  return {
    kind: 'prefix-break',
    cause,
    fits: instruct,
    inject: (dice) => {
      const messages = withoutSystem(messagesOf(dice, 2));
      const [first, second] = texts(dice).map(system) as [Message, Message];
      return [chatOf([first, ...messages.slice(0, -2)]), chatOf([second, ...messages])];
    },
  };
}

/** @param change of what was sent before, behind which the conversation goes on */
function changedHistory(change: (before: readonly Message[], dice: Dice) => readonly Message[]): Fault {
  return {
    kind: 'prefix-break',
    cause: 'history-edited',
    fits: instruct,
    inject: (dice) => {
      const before: Message[] = [
        system('You are terse.'),
        ...dice
          .times(3, (index): Message[] => [
            user(`Question ${index}: ${sentence(dice)}`),
            { role: 'assistant', content: `Answer ${index}. ${answer(dice).trim()}` },
          ])
          .flat(),
        user(`The last one: ${sentence(dice)}`),
      ];
      const reply: Message = { role: 'assistant', content: 'So it is.' };
      return [chatOf(before), chatOf([...change(before, dice), reply, user(sentence(dice))])];
    },
  };
}

function changedTools(cause: string, first: readonly object[], second: readonly object[]): Fault {
  return {
    kind: 'prefix-break',
    cause,
    fits: ({ tools: knows }) => knows === true,
    inject: (dice) => {
      const messages = withoutSystem(messagesOf(dice, 2));
      return [chatOf(messages.slice(0, -2), { tools: first }), chatOf(messages, { tools: second })];
    },
  };
}

/** A prompt that ends with an empty think block, which the template leaves out once the answer is there. */
function emptyThink(cause: string, opening: string): Fault {
  return {
    kind: 'prefix-break',
    cause,
    fits: ({ reasoning }) => reasoning === true,
    inject: (dice) => {
      const reply: Message = { role: 'assistant', content: `${opening}So it is: ${sentence(dice)}` };
      const messages = [user(text(dice)), reply, user(sentence(dice))];
      return [1, 3].map((length) =>
        chatOf(messages.slice(0, length), { chat_template_kwargs: { enable_thinking: false } }),
      );
    },
  };
}

const rest = (dice: Dice): string => `${systemText(dice)}\nSay what you do not know.`;

export const breakFaults: readonly Fault[] = [
  changedSystem('volatile-time', (dice) => {
    const [hour, minute] = [dice.between(10, 22), dice.between(10, 57)];
    const said = rest(dice);
    return [0, 2].map((late) => `You are terse.\nIt is ${hour}:${minute + late} now.\n${said}`) as [
      string,
      string,
    ];
  }),
  changedSystem('volatile-date', (dice) => {
    const day = dice.between(10, 26);
    const said = rest(dice);
    return [day, day + 1].map((one) => `You are terse.\nToday is 2026-03-${one}.\n${said}`) as [
      string,
      string,
    ];
  }),
  changedSystem('volatile-text', (dice) => {
    const said = rest(dice);
    return [
      `You are terse.\nWhat is known of the user:\n- likes tea\n${said}`,
      `You are terse.\nWhat is known of the user:\n- likes tea\n- lives in Oslo\n${said}`,
    ];
  }),
  changedSystem('volatile-text', (dice) => {
    const said = rest(dice);
    const mark = (): string => dice.between(1e8, 4e9).toString(16);
    return [`Request ${mark()}.\n${said}`, `Request ${mark()}.\n${said}`];
  }),
  changedSystem('attribution-line', (dice) => {
    const said = rest(dice);
    const line = (mark: string): string =>
      `x-anthropic-billing-header: cc_version=2.1.77.e5c; cch=${mark};\n${said}`;
    return [line('1a2b3'), line('4c5d6')];
  }),
  changedTools('tools-reordered', tools, tools.toReversed()),
  changedTools('tools-changed', tools.slice(0, 2), tools),
  changedTools(
    'unknown',
    tools,
    tools.map(({ type, function: { parameters, ...named } }) => {
      const { type: sort, properties, required } = parameters;
      return { type, function: { ...named, parameters: { required, properties, type: sort } } };
    }),
  ),
  // Its first question or more of it given up makes another conversation: none is found to be the one before.
  ...[3, 4, 5].map((at) =>
    changedHistory((before, dice) =>
      before.map((one, index) => (index === at ? { ...one, content: `Changed: ${sentence(dice)}` } : one)),
    ),
  ),
  {
    kind: 'prefix-break',
    cause: 'history-edited',
    fits: takesAnyOrder,
    inject: (dice) => {
      const note = system(`A note on style: ${sentence(dice)}`);
      const messages = withoutSystem(messagesOf(dice, 3));
      // It stays two messages from the end, so that it moves with every turn.
      const noted = (all: readonly Message[]): Message[] => [...all.slice(0, -2), note, ...all.slice(-2)];
      return [chatOf(noted(messages.slice(0, -2))), chatOf(noted(messages))];
    },
  },
  {
    kind: 'prefix-break',
    cause: 'history-truncated',
    fits: takesAnyOrder,
    inject: (dice) => {
      const messages = messagesOf(dice, 1);
      return [chatOf(messages), chatOf([...messages, user(`And then: ${sentence(dice)}`)])];
    },
  },
  {
    kind: 'prefix-break',
    cause: 'salt-changed',
    fits: instruct,
    // One change of salts proves nothing: the last of three turns, each under its own, is the one that is told.
    inject: (dice) => {
      const messages = messagesOf(dice, 2);
      return [4, 2, 0].map((less, turn) =>
        chatOf(messages.slice(0, messages.length - less), { cache_salt: `salt ${turn}` }),
      );
    },
  },
  {
    kind: 'prefix-break',
    cause: 'reasoning-dropped',
    fits: ({ reasoning }) => reasoning === true,
    inject: (dice) => {
      const messages = [
        user(sentence(dice)),
        {
          role: 'assistant',
          content: '',
          reasoning_content: `It must be asked first: ${sentence(dice)}`,
          tool_calls: [
            { id: 'call00001', type: 'function', function: { name: 'get_time', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call00001', content: 'noon' },
        { role: 'assistant', content: 'It is noon.' },
        user(sentence(dice)),
      ];
      return [3, 5].map((length) => chatOf(messages.slice(0, length), { tools }));
    },
  },
  emptyThink('empty-think-tail', ''),
  // The blank line before the answer makes one token with the end of the generation prompt.
  emptyThink('retokenised', '\n'),
];
