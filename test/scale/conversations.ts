// Generated requests with nothing wrong in them, in the shapes that clients really use.
import { agentShapes, dialectShapes } from './agents.ts';
import type { Dice } from './dice.ts';
import type { ScaleFamily } from './families.ts';
import {
  chatOf,
  messagesOf,
  rawOf,
  tools,
  type EngineQuestions,
  type Message,
  type PlannedConversation,
  type Shape,
} from './requests.ts';
import { sessionShapes } from './sessions.ts';
import { answer, sentence, systemText, text, transcript } from './texts.ts';

const chatShapes: Readonly<Record<string, Shape>> = {
  chat: (dice) => [chatOf(messagesOf(dice))],
  'streamed chat': (dice) => [chatOf(messagesOf(dice), { stream: true })],
  'content parts': (dice) => {
    const messages = messagesOf(dice, 0);
    return [chatOf(messages.map((one) => ({ ...one, content: [{ type: 'text', text: one.content }] })))];
  },
  'growing chat': (dice) => {
    const messages = messagesOf(dice, 3);
    const lengths = [messages.length - 4, messages.length - 2, messages.length];
    return lengths.map((length) => chatOf(messages.slice(0, length)));
  },
  'few-shot': (dice) => [
    chatOf([
      { role: 'system', content: 'Label the sentiment as good or bad.' },
      ...dice
        .times(3, (): Message[] => [
          { role: 'user', content: `Input: ${sentence(dice)}\nLabel:` },
          { role: 'assistant', content: dice.pick(['good', 'bad']) },
        ])
        .flat(),
      { role: 'user', content: `Input: ${sentence(dice)}\nLabel:` },
    ]),
  ],
  judge: (dice) => [
    chatOf([
      { role: 'system', content: 'You are a judge. Rate the conversation below from 1 to 10.' },
      {
        role: 'user',
        content: `[Conversation]\n${transcript(dice)}\n[End of conversation]\n\nReply with a number only.`,
      },
    ]),
  ],
  'summary of a transcript': (dice) => [
    chatOf([{ role: 'user', content: `Summarise this call in one line:\n\n"""\n${transcript(dice)}\n"""` }]),
  ],
  messages: (dice) => {
    const [first, ...rest] = messagesOf(dice);
    const system = first?.role === 'system' ? { system: first.content } : {};
    const messages = first?.role === 'system' ? rest : [first, ...rest];
    return [{ path: '/v1/messages', body: { ...system, messages, max_tokens: 1 } }];
  },
  responses: (dice) => [
    { path: '/v1/responses', body: { input: messagesOf(dice, 0), max_output_tokens: 1 } },
  ],
  'rendered by the client': async (dice, { render }) => [rawOf(await render({ messages: messagesOf(dice) }))],
  'begun by the client': async (dice, { render }) => [
    rawOf(
      (await render({ messages: messagesOf(dice) })) +
        dice.pick(['Sure, ', ' Yes', '{"', '```\n', answer(dice)]),
    ),
  ],
  'trimmed by the client': async (dice, { render }) => [
    rawOf((await render({ messages: messagesOf(dice) })).trimEnd()),
  ],
  ids: async (dice, { render, tokenize }) => [
    rawOf(await tokenize(await render({ messages: messagesOf(dice) }))),
  ],
};

const toolShape: Shape = (dice) => {
  const city = dice.pick(['Oslo', 'São Paulo', '東京', 'Zürich "West"']);
  const tool = dice.pick(tools).function.name;
  const result = dice.pick([`{"temp": ${dice.between(-9, 35)}}`, 'sunny', '<p>rain</p>', '{"error":null}']);
  const asked: Message[] = [
    { role: 'system', content: systemText(dice) },
    { role: 'user', content: `How is it in ${city}?` },
  ];
  const called: Message[] = [
    ...asked,
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: tool, arguments: JSON.stringify({ city }) } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: result },
  ];
  const last: Message[] = [
    ...called,
    { role: 'assistant', content: answer(dice).trim() },
    { role: 'user', content: sentence(dice) },
  ];
  return [asked, called, last].map((messages) => chatOf(messages, { tools }));
};

const reasoningShape: Shape = (dice) => {
  const [question, next] = [sentence(dice), sentence(dice)];
  const messages: Message[] = [
    { role: 'user', content: question },
    { role: 'assistant', content: 'Because.', reasoning_content: 'Let me think about it.' },
    { role: 'user', content: next },
  ];
  return [chatOf(messages)];
};

function shapesOf({ base, tools: knowsTools, reasoning, fillIn }: ScaleFamily): [string, Shape][] {
  const continued: Shape = (dice) => [rawOf(`${text(dice)}\n\n${sentence(dice).slice(0, 20)}`)];
  if (base === true) {
    return [
      ['base prompt', continued],
      ['few-shot base prompt', (dice) => [rawOf(`${transcript(dice)}\n\n${transcript(dice)}\nUser:`)]],
    ];
  }
  return [
    ...Object.entries(chatShapes),
    ...Object.entries(sessionShapes),
    ...Object.entries(dialectShapes),
    ...(knowsTools === true
      ? [...Object.entries(agentShapes), ['tool loop', toolShape] as [string, Shape]]
      : []),
    ...(reasoning === true ? [['reasoning', reasoningShape] as [string, Shape]] : []),
    ...(fillIn
      ? ([
          [
            'fill-in',
            (dice) => [rawOf(`${fillIn.prefix}${text(dice)}${fillIn.suffix}${text(dice)}${fillIn.middle}`)],
          ],
        ] as [string, Shape][])
      : []),
  ];
}

export async function cleanConversation(
  dice: Dice,
  family: ScaleFamily,
  engine: EngineQuestions,
): Promise<PlannedConversation> {
  const [shape, make] = dice.pick(shapesOf(family));
  return { shape, requests: await make(dice, engine) };
}
