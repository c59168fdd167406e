// Replies that run past the model's turn, and the many that only look like it.
import { runawayReply } from '../../src/detectors/runaway-reply.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf } from '../support/exchange-builder.ts';
import {
  chat,
  harmony,
  ids,
  llama3,
  nextQuestion,
  raw,
  speakers,
  vicuna,
} from './runaway-reply/exchanges.ts';
import { lookalikes } from './runaway-reply/lookalikes.ts';

const { base, gemma3, mistral } = factsOf;

testDetector(runawayReply, {
  clean: lookalikes,
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
