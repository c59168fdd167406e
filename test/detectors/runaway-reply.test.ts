// Replies that run past the model's turn, and the many that only look like it: talk about markers, lists of roles, code.
import { runawayReply } from '../../src/detectors/runaway-reply.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ChoiceShape, type ExchangeShape } from '../support/exchange-builder.ts';

const { qwen3, gemma3, base, mistral } = factsOf;
const rendered = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n';
const renderedIds = [[151_644, 872, 198, 151_644, 77_091, 198]];

const chat = (says: string, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'chat',
  facts: qwen3,
  body: { messages: [{ role: 'user', content: 'Hi' }] },
  reply: { choices: [{ says }] },
  ...more,
});
const asked = (content: string, says: string): ExchangeShape =>
  chat(says, { body: { messages: [{ role: 'user', content }] } });
const raw = (prompt: string, says: string, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  ...chat(says),
  route: 'completion',
  body: { prompt },
  ids: [[5, 6, 7]],
  ...more,
});
const ids = (generatedIds: number[], more: Partial<ExchangeShape> = {}): ExchangeShape => {
  const choice: ChoiceShape = { generatedIds };
  return raw(rendered, '', { ids: renderedIds, reply: { choices: [choice] }, ...more });
};

const llama3: ModelFacts = {
  ...base,
  markers: [
    { text: '<|start_header_id|>', id: 128_006 },
    { text: '<|end_header_id|>', id: 128_007 },
    { text: '<|eot_id|>', id: 128_009 },
  ],
  eos: { text: '<|end_of_text|>', id: 128_001 },
  generationPrompt: {
    text: '<|start_header_id|>assistant<|end_header_id|>\n\n',
    ids: [128_006, 78_191, 128_007, 271],
  },
  roleMarkers: [
    { role: 'user', opening: '<|start_header_id|>user<|end_header_id|>\n\n' },
    { role: 'assistant', opening: '<|start_header_id|>assistant<|end_header_id|>\n\n' },
  ],
};
/** The model opens parts of its own turn, which look like turns. */
const harmony: ModelFacts = {
  ...base,
  markers: [
    { text: '<|message|>', id: 200_008 },
    { text: '<|channel|>', id: 200_005 },
    { text: '<|start|>', id: 200_006 },
    { text: '<|end|>', id: 200_007 },
  ],
  generationPrompt: { text: '<|start|>assistant', ids: [200_006, 173_781] },
  roleMarkers: [
    { role: 'user', opening: '<|start|>user<|message|>' },
    { role: 'assistant', opening: '<|start|>assistant<|channel|>final<|message|>' },
  ],
};
const vicuna: ModelFacts = {
  ...base,
  generationPrompt: { text: 'ASSISTANT:', ids: [319, 1799, 9047] },
  roleMarkers: [
    { role: 'user', opening: 'USER: ' },
    { role: 'assistant', opening: 'ASSISTANT: ' },
  ],
};
const nextQuestion = 'It is four.\nuser\nAnd what is three and three?\nassistant\nThree and three is six.';
const speakers = 'You are helpful.\nUser: Hi\nAssistant:';

testDetector(runawayReply, {
  clean: [
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
      exchange: asked(
        'Write a dialogue',
        'User: Hi there, friend\nAssistant: Hello to you too\nUser: Bye now',
      ),
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
  ],
  found: [
    {
      name: 'a marker in the text',
      exchange: chat('It is four.<|im_end|>\n<|im_start|>user\nAnd five?'),
      findings: [
        {
          cause: 'role-marker',
          severity: 'warning',
          culprit: 'model-file',
          message:
            'The reply holds "<|im_start|>user\\n" after 22 characters, so the generation did not stop at the end of the model\'s turn.',
        },
      ],
    },
    {
      name: 'a marker in the text of a reply whose history ran away, too',
      exchange: chat('Four.\n<|im_start|>user\n', {
        body: {
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: 'Hello.\n<|im_start|>user\nBye' },
            { role: 'user', content: 'What?' },
          ],
        },
      }),
      findings: [{ cause: 'role-marker' }],
    },
    {
      name: 'a marker after a code block',
      exchange: chat('```\nx = 1\n```\n<|im_start|>user\nThanks'),
      findings: [{ cause: 'role-marker' }],
    },
    {
      name: 'a marker that is a whole opening',
      exchange: chat('Four.</s>[INST] And five?', { facts: mistral }),
      findings: [{ cause: 'role-marker' }],
    },
    {
      name: 'an id that opens a turn',
      exchange: ids([40, 151_645, 198, 151_644, 872, 198]),
      findings: [
        {
          cause: 'role-marker',
          culprit: 'model-file',
          message:
            'The reply generated "<|im_start|>" as its token 3, so the generation did not stop at the end of the model\'s turn.',
        },
      ],
    },
    {
      name: "a user's turn within the model's own parts",
      exchange: chat('Done.<|start|>user<|message|>More', { facts: harmony }),
      findings: [{ cause: 'role-marker' }],
    },
    {
      name: 'a question and its answer under headers, the control tokens not shown',
      exchange: chat(nextQuestion),
      findings: [
        {
          cause: 'role-header',
          severity: 'warning',
          culprit: 'model-file',
          message:
            "The reply holds the header of a turn of the user after 12 characters, so the generation did not stop at the end of the model's turn.",
        },
      ],
    },
    {
      name: 'headers right behind the sentences before them',
      exchange: chat(
        "Is that all?assistant\n\nI'm ready to help you!assistant\n\nLet me know what you need.",
        {
          facts: llama3,
        },
      ),
      findings: [{ cause: 'role-header' }],
    },
    {
      name: 'a model that names its own turn, because the prompt did not',
      exchange: raw('<start_of_turn>user\nHi<end_of_turn>\n', 'model\nHello there, how are you?', {
        facts: gemma3,
      }),
      findings: [{ cause: 'role-header', culprit: 'client' }],
    },
    {
      name: "the other speaker's line, as the prompt writes it",
      exchange: raw(speakers, ' Hello!\nUser: How are you?\nAssistant: Fine.'),
      findings: [
        {
          cause: 'next-turn',
          severity: 'warning',
          culprit: 'client',
          message:
            "The reply begins a line as the other speaker in the prompt does after 8 characters, so the generation did not stop at the end of the model's turn.",
        },
      ],
    },
    {
      name: 'the next instruction',
      exchange: raw('### Instruction:\nSort.\n\n### Response:\n', 'Sorted.\n\n### Instruction:\nMore'),
      findings: [{ cause: 'next-turn' }],
    },
    {
      name: 'markers of another family, which are text to this model',
      exchange: raw(
        '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
        'Hello.<|im_end|>\n<|im_start|>user\nBye',
        {
          facts: llama3,
        },
      ),
      findings: [{ cause: 'next-turn', culprit: 'client' }],
    },
    {
      name: 'the next example of a base model, which continues texts by design',
      exchange: raw('Q: 1+1\nA: 2\n\nQ: 2+2\nA:', ' 4\n\nQ: 3+3\nA: 6', { facts: base }),
      findings: [{ cause: 'next-turn', severity: 'info' }],
    },
    {
      name: 'the same of a model that is configured as base',
      exchange: raw('Q: 1+1\nA:', ' 2\n\nQ: 3+3\nA: 6', { modelKind: 'base' }),
      findings: [{ cause: 'next-turn', severity: 'info' }],
    },
    {
      name: 'an opening that is plain text',
      exchange: chat('Hello.\nUSER: How are you?', { facts: vicuna }),
      findings: [
        {
          cause: 'next-turn',
          message:
            "The reply begins a line as the user does after 7 characters, so the generation did not stop at the end of the model's turn.",
        },
      ],
    },
    {
      name: 'the second choice alone',
      exchange: chat('', { reply: { choices: [{ says: 'Four.' }, { says: nextQuestion }] } }),
      findings: [{ promptIndex: 1 }],
    },
  ],
});
