// Replies that stop where they should and only look as if they ran on: talk about markers, lists of roles, code.
import type { CleanCase } from '../../support/detector-tester.ts';
import {
  asked,
  chat,
  harmony,
  ids,
  llama3,
  nextQuestion,
  raw,
  rendered,
  speakers,
  vicuna,
} from './exchanges.ts';

export const lookalikes: readonly CleanCase[] = [
  { name: 'an answer', exchange: chat('Two and two is four.') },
  { name: 'an empty answer', exchange: chat('') },
  { name: 'no text that was looked at', exchange: chat('', { reply: { choices: [{}] } }) },
  {
    name: 'markers in a code block',
    exchange: chat(
      'Chats look like this:\n```\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n```\nDone.',
    ),
  },
  { name: 'a marker in code within a line', exchange: chat('Turns begin with `<|im_start|>user`.') },
  {
    name: 'markers after somebody asked about them',
    exchange: asked(
      'What does <|im_start|> mean?',
      'It opens a turn:\n<|im_start|>user\nHi, how are you?\n<|im_start|>assistant\nI am well, thanks.',
    ),
  },
  {
    name: 'markers after a tool has shown them',
    exchange: chat('The file says:\n<|im_start|>user\nHi', {
      body: {
        messages: [
          { role: 'user', content: 'Read it' },
          { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'x <|im_start|>user' }] },
        ],
      },
    }),
  },
  { name: 'a list of roles', exchange: chat('The roles are:\nsystem\nuser\nassistant\ntool\n') },
  { name: 'a spaced list of roles', exchange: chat('system\n\nuser\n\nassistant\n\n', { facts: llama3 }) },
  {
    name: 'a reply that begins with the name of a role',
    exchange: chat('assistant\nsystem\nuser\nand tool'),
  },
  {
    name: 'a role at the end of a line',
    exchange: chat('This is for the user\nand that for the assistant\nwho helps.'),
  },
  {
    name: 'a word that ends as a role does',
    exchange: chat('Log in as superuser\nthen ask for help\nassistant\n'),
  },
  {
    name: 'turns under headers where such were asked for',
    exchange: asked('Continue:\nuser\nHi, how are you?\nassistant\n', nextQuestion),
  },
  {
    name: 'speakers in an answer to a chat',
    exchange: asked('Write a dialogue', 'User: Hi there, friend\nAssistant: Hello to you too\nUser: Bye now'),
  },
  {
    name: 'parts of its own turn that the model opens',
    exchange: ids([200_005, 200_008, 12, 200_007, 200_006, 173_781, 200_005, 200_008], { facts: harmony }),
  },
  { name: 'ids without a marker', exchange: ids([40, 41, 42]) },
  { name: 'the end of the turn as the last id', exchange: ids([40, 151_645]) },
  { name: 'thinking and a tool call', exchange: ids([151_667, 271, 151_668, 151_657, 40, 151_658]) },
  {
    name: 'ids of a client that ignores the end of turns',
    exchange: ids([40, 151_645, 198, 151_644], { body: { prompt: rendered, ignore_eos: true } }),
  },
  {
    name: 'a repeated prompt',
    exchange: raw('x', 'x<|im_start|>user\nHi', { body: { prompt: 'x', echo: true } }),
  },
  {
    name: 'a text that ends with no open line',
    exchange: raw('User: Hi\nAssistant: Hello', '\nUser: Bye now'),
  },
  { name: 'the own line again', exchange: raw(speakers, ' Hello.\nAssistant: I am here.') },
  {
    name: "the other speaker's name within a line",
    exchange: raw(speakers, ' A line may begin with User: and go on.'),
  },
  {
    name: 'a story, to be continued from a heading of several words',
    exchange: raw('Note: be brief.\nNow write five more such pairs:', '\nNote: one\nNote: two'),
  },
  {
    name: 'several texts, each of which may have another shape',
    exchange: raw('', '\nUser: Bye', { body: { prompt: [speakers, 'x'] }, ids: [[5], [6]] }),
  },
  {
    name: 'an opening that is plain text, within a line',
    exchange: chat('The format has USER: in it.', { facts: vicuna }),
  },
  {
    name: 'the first line of the reply',
    exchange: raw('Question: why?\nAnswer:', 'Question: is that all?'),
  },
  { name: 'an error of the engine', exchange: chat('', { reply: { status: 400 } }) },
];
