// The traffic of the first look, as data: what a driver sends through the proxy to the demo engine, in this order.
// No I/O. Each scene is a conversation of its own; what one step is expected to show is said beside it.
import type { BreakCause, FindingKind } from '../exchange/finding.ts';
import { cannedText } from './canned-reply.ts';

export interface DemoStep {
  /** Steps of one scene belong to one conversation and follow one another. */
  readonly scene: DemoScene;
  /** What the client does, as a heading. */
  readonly title: string;
  readonly path: '/completion' | '/v1/chat/completions';
  readonly body: Readonly<Record<string, unknown>>;
  /** The finding that the step is there to show; absent where there must be none. */
  readonly expects?: { readonly kind: FindingKind; readonly cause?: BreakCause };
}

export type DemoScene =
  'clean-chat' | 'double-bos' | 'raw-prompt' | 'tools-reordered' | 'clock-in-system' | 'thinking-off';

interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The demo engine's only reply, as a client sends it back in the next turn. */
const reply: Message = { role: 'assistant', content: cannedText };

const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string): Message => ({ role: 'user', content });

function cityTool(name: string, description: string): object {
  const city = { type: 'string', description: 'The city name.' };
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: { type: 'object', properties: { city }, required: ['city'] },
    },
  };
}

const getWeather = cityTool('get_weather', 'Get the current weather for a city.');
const getTime = cityTool('get_time', 'Get the local time in a city.');

const cleanChat = [
  system('You are a helpful assistant. Answer in one sentence.'),
  user('What does a weir do?'),
];
const travelChat = [system('You are a travel assistant.'), user('What is the weather in Berlin?')];
const thinkingOff = { chat_template_kwargs: { enable_thinking: false } };
const sum = [system('You are terse.'), user('What is 5 times 3?')];

/** A system prompt with a clock near its start, so that all the rules behind it are computed again. */
function clockChat(time: string): Message[] {
  const rules =
    'Answer in one sentence. If you do not know the answer, say so. Name the city that you speak of.';
  return [
    system(`Current time: ${time}. You are a helpful assistant. ${rules}`),
    user('When does the mill open?'),
  ];
}

export const demoScript: readonly DemoStep[] = [
  {
    scene: 'clean-chat',
    title: 'A chat, first turn',
    path: '/v1/chat/completions',
    body: { messages: cleanChat },
  },
  {
    scene: 'clean-chat',
    title: 'The same chat, second turn: the prompt only grows',
    path: '/v1/chat/completions',
    body: { messages: [...cleanChat, reply, user('And what does the keeper do?')] },
  },
  {
    scene: 'double-bos',
    title: 'A client renders the chat template itself, BOS included, and sends the text to /completion',
    path: '/completion',
    body: {
      prompt:
        '<bos><|turn|>system\nYou are terse.<|end|>\n<|turn|>user\nWhat is 2 + 2?<|end|>\n<|turn|>assistant\n',
    },
    expects: { kind: 'double-bos' },
  },
  {
    scene: 'raw-prompt',
    title: 'A bare question goes to /completion, without the chat template',
    path: '/completion',
    body: { prompt: 'What is the capital of France?' },
    expects: { kind: 'raw-prompt' },
  },
  {
    scene: 'tools-reordered',
    title: 'A chat with two tools, first turn',
    path: '/v1/chat/completions',
    body: { messages: travelChat, tools: [getWeather, getTime] },
  },
  {
    scene: 'tools-reordered',
    title: 'The same chat, second turn: the client lists the same tools in another order',
    path: '/v1/chat/completions',
    body: { messages: [...travelChat, reply, user('And in Paris?')], tools: [getTime, getWeather] },
    expects: { kind: 'prefix-break', cause: 'tools-reordered' },
  },
  {
    scene: 'clock-in-system',
    title: 'A chat with the time in its system prompt, first turn',
    path: '/v1/chat/completions',
    body: { messages: clockChat('10:00:01') },
  },
  {
    scene: 'clock-in-system',
    title: 'The same chat, second turn: the clock went on by 18 seconds',
    path: '/v1/chat/completions',
    body: { messages: [...clockChat('10:00:19'), reply, user('And when does it close?')] },
    expects: { kind: 'prefix-break', cause: 'volatile-time' },
  },
  {
    scene: 'thinking-off',
    title: 'A chat with thinking off, first turn: the template writes an empty think block',
    path: '/v1/chat/completions',
    body: { messages: sum, ...thinkingOff },
  },
  {
    scene: 'thinking-off',
    title: 'The same chat, second turn: the history has no think block',
    path: '/v1/chat/completions',
    body: { messages: [...sum, reply, user('Minus 5?')], ...thinkingOff },
    expects: { kind: 'prefix-break', cause: 'empty-think-tail' },
  },
];
