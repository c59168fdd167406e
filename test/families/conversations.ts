// What clean clients send: three turns, and three turns with tools. Nothing in them is unusual.
import { getTime, getWeather } from '../support/conversations.ts';

export interface ChatBody {
  readonly messages: readonly object[];
  readonly tools?: readonly object[];
}

const system = { role: 'system', content: 'You answer travellers in one sentence.' };

const questions = [
  { role: 'user', content: 'Which river flows through Dresden?' },
  { role: 'assistant', content: 'The Elbe flows through Dresden.' },
  { role: 'user', content: 'And through Prague?' },
  { role: 'assistant', content: 'That is the Vltava.' },
  { role: 'user', content: 'Where do they meet?' },
];

/** The bodies that a client sends one after the other. */
export const threeTurns: readonly ChatBody[] = [1, 3, 5].map((length) => ({
  messages: [system, ...questions.slice(0, length)],
}));

const weather = [
  { role: 'user', content: 'What is the weather in Lisbon?' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        id: 'callLisb1',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"Lisbon"}' },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'callLisb1', content: 'Sunny, 24 degrees.' },
  { role: 'assistant', content: 'It is sunny and warm in Lisbon.' },
  { role: 'user', content: 'And what should I wear?' },
];

export const toolTurns: readonly ChatBody[] = [1, 3, 5].map((length) => ({
  messages: [system, ...weather.slice(0, length)],
  tools: [getWeather, getTime],
}));
