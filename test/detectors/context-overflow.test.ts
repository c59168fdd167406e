// Requests that were refused for their length, prompts that nearly fill the context, and everything that fits.
import { contextOverflow } from '../../src/detectors/context-overflow.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
];
const ids = (length: number): number[][] => [Array.from({ length }, (_, index) => index + 5)];
const chat = (more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'chat',
  body: { messages },
  ids: ids(20),
  ...more,
});
const answered = (promptTokens: number, more: Partial<ExchangeShape> = {}): ExchangeShape =>
  chat({ reply: { choices: [{ promptTokens }] }, ids: ids(promptTokens), ...more });
const refused = (
  refusal: NonNullable<NonNullable<ExchangeShape['reply']>['refusal']>,
  more: Partial<ExchangeShape> = {},
): ExchangeShape =>
  chat({ reply: { status: 400, started: false, unreadReason: 'engine-error', refusal }, ...more });
const smallContext = { ...factsOf.qwen3, contextTokens: 512 };
const named = { ...smallContext, contextArgument: '--context N' };

testDetector(contextOverflow, {
  clean: [
    { name: 'a short prompt', exchange: answered(20) },
    { name: 'a prompt that leaves just more than the margin', exchange: answered(4096 - 257) },
    {
      name: 'half of a small context, which has a smaller margin',
      exchange: answered(300, { facts: smallContext }),
    },
    {
      name: 'a short prompt with a limit beyond the context, which the engine answered',
      exchange: answered(20, { body: { messages, max_tokens: 100_000 } }),
    },
    {
      name: 'a context that the engine does not tell',
      exchange: answered(4090, { facts: { ...factsOf.qwen3, contextTokens: 0 } }),
    },
    { name: 'an error about something else', exchange: chat({ reply: { status: 400 } }) },
    { name: 'ids that were not read, and no count', exchange: chat({ ids: ['media'], reply: {} }) },
    {
      name: 'a prompt of which the engine has cut a part',
      exchange: answered(4000, { ids: ids(9000) }),
    },
    {
      name: 'media, which take fewer tokens in the ids than in the engine',
      exchange: chat({
        body: {
          messages: [
            {
              role: 'user',
              content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
            },
          ],
        },
        ids: ids(4000),
        reply: { choices: [{}] },
      }),
    },
    { name: 'no reply yet', exchange: chat({ ids: ids(4090) }) },
  ],
  found: [
    {
      name: 'a prompt that the engine refused, in its own numbers',
      exchange: refused({ promptTokens: 33_056, contextTokens: 32_768 }),
      findings: [
        {
          cause: 'prompt-too-long',
          severity: 'error',
          culprit: 'client',
          field: 'messages',
          message:
            "The engine refused the request: its prompt of 33056 tokens does not fit into the engine's context of 32768 tokens.",
        },
      ],
    },
    {
      name: 'the same of an engine whose argument is known',
      exchange: refused({ promptTokens: 600, contextTokens: 512 }, { facts: named }),
      findings: [
        {
          cause: 'prompt-too-long',
          advice:
            'Shorten or compact the conversation, or give each request a larger context in the engine (--context N); tell the client the context that one request has, which may be a part of what the engine has in all.',
        },
      ],
    },
    {
      name: 'as many tokens as the context has: none would be left for the answer',
      exchange: refused({ promptTokens: 512, contextTokens: 512 }, { facts: smallContext }),
      findings: [{ cause: 'prompt-too-long', severity: 'error' }],
    },
    {
      name: 'a refusal without numbers: those of the ids and facts',
      exchange: refused({}, { ids: ids(5000) }),
      findings: [
        {
          cause: 'prompt-too-long',
          message:
            "The engine refused the request: its prompt of 5000 tokens does not fit into the engine's context of 4096 tokens.",
        },
      ],
    },
    {
      name: 'a refusal of which nothing is known',
      exchange: refused({}, { ids: ['oracle-timeout'], facts: { ...factsOf.qwen3, contextTokens: 0 } }),
      findings: [
        {
          cause: 'prompt-too-long',
          message:
            "The engine refused the request: its prompt of too many tokens does not fit into the engine's context of unknown length.",
        },
      ],
    },
    {
      name: 'a prompt that fits, with a limit on the answer that does not',
      exchange: refused(
        { promptTokens: 20, answerTokens: 4096, contextTokens: 4096 },
        { body: { messages, max_completion_tokens: 4096 } },
      ),
      findings: [
        {
          cause: 'limit-too-high',
          severity: 'warning',
          field: 'max_completion_tokens',
          message:
            "The engine refused the request: its prompt of 20 tokens fits into the engine's context of 4096 tokens, but not together with the 4096 tokens that the answer may take.",
          advice: 'Set max_completion_tokens to 4076 or less, or leave it out.',
        },
      ],
    },
    {
      name: 'a limit that no prompt could go with, before the prompt was counted',
      exchange: refused({ answerTokens: 5000, contextTokens: 4096 }, { ids: ['media'] }),
      findings: [
        {
          cause: 'limit-too-high',
          severity: 'warning',
          message:
            "The engine refused the request: its prompt may fit into the engine's context of 4096 tokens, but not together with the 5000 tokens that the answer may take.",
        },
      ],
    },
    {
      name: 'the same of a text',
      exchange: refused(
        { promptTokens: 20, contextTokens: 4096 },
        { route: 'completion', body: { prompt: 'Hi' } },
      ),
      findings: [
        {
          cause: 'limit-too-high',
          advice: 'Set the limit on the answer to 4076 or less, or leave it out.',
        },
      ],
    },
    {
      name: 'a prompt that leaves no more than the margin',
      exchange: answered(4096 - 256),
      findings: [
        {
          cause: 'near-limit',
          severity: 'warning',
          culprit: 'client',
          message:
            "The prompt of 3840 tokens leaves 256 of the engine's context of 4096 tokens for the answer.",
          advice:
            'Compact the conversation before its next turn, or give each request a larger context in the engine.',
        },
      ],
    },
    {
      name: 'the same of an engine whose argument is known',
      exchange: answered(500, { facts: named }),
      findings: [
        {
          cause: 'near-limit',
          advice:
            'Compact the conversation before its next turn, or give each request a larger context in the engine (--context N).',
        },
      ],
    },
    {
      name: 'a nearly full small context, of ids alone',
      exchange: chat({ facts: smallContext, ids: ids(460), reply: { choices: [{}] } }),
      findings: [{ cause: 'near-limit' }],
    },
    {
      name: 'the second prompt of a batch alone',
      exchange: {
        route: 'completion',
        body: { prompt: ['a', 'b'] },
        facts: smallContext,
        ids: [...ids(3), ...ids(511)],
        reply: { choices: [{ promptTokens: 3 }, { promptTokens: 511 }] },
      },
      findings: [{ cause: 'near-limit', promptIndex: 1, field: 'prompt' }],
    },
  ],
});
