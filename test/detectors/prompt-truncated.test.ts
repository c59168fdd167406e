// Prompts of which the engine read a part only, and all the smaller or wanted differences that are none of that.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countMismatch } from '../../src/detectors/count-mismatch.ts';
import { promptTruncated } from '../../src/detectors/prompt-truncated.ts';
import { testDetector } from '../support/detector-tester.ts';
import { buildExchange, factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const ids = (length: number): number[] => Array.from({ length }, (_, index) => index + 5);
const read = (known: number, told: number | undefined, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'completion',
  body: { prompt: 'x' },
  ids: [ids(known)],
  reply: { choices: [told === undefined ? {} : { promptTokens: told }] },
  ...more,
});
const picture = {
  messages: [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
  ],
};
const half = read(9000, 2051);
const named = { ...factsOf.qwen3, contextArgument: '--context N' };
const unnamed =
  'Raise the context that the engine gives to one request, or shorten the conversation before it is sent; which part the engine cut, and whether it can be made to refuse instead, its documentation says.';

testDetector(promptTruncated, {
  clean: [
    { name: 'the same count', exchange: read(9000, 9000) },
    { name: 'no count', exchange: read(9000, undefined) },
    { name: 'a count that is higher', exchange: read(100, 900) },
    { name: 'one token fewer, of a BOS that the engine does not add', exchange: read(20, 19) },
    { name: 'a few fewer of a short prompt', exchange: read(40, 10) },
    { name: 'a small share fewer of a long prompt', exchange: read(9000, 8000) },
    { name: 'ids that the client asked to be cut', exchange: read(0, 3, { ids: ['engine-cannot'] }) },
    { name: 'ids that were not read', exchange: read(0, 5, { ids: ['oracle-timeout'] }) },
    {
      name: 'media, which have positions of their own',
      exchange: read(900, 40, { route: 'chat', body: picture }),
    },
    {
      name: 'a prompt that was taken from the cache but for one token: the count is of the whole',
      exchange: read(900, 900, { reply: { choices: [{ promptTokens: 900, cachedTokens: 899 }] } }),
    },
    { name: 'an error of the engine', exchange: { ...half, reply: { status: 400 } } },
    { name: 'no reply yet', exchange: { route: 'completion', body: { prompt: 'x' }, ids: [ids(900)] } },
  ],
  found: [
    {
      name: 'a long transcript behind a small context',
      exchange: half,
      findings: [{ cause: 'beyond-context', severity: 'error', culprit: 'engine', promptIndex: 0 }],
    },
    {
      name: 'the same of an engine whose argument is known',
      exchange: { ...half, facts: named },
      findings: [
        {
          cause: 'beyond-context',
          advice: unnamed.replace('one request', 'one request (--context N)'),
        },
      ],
    },
    {
      name: 'one that would have fitted: what such an argument says is not what this request was given',
      exchange: { ...read(4000, 2048), facts: named },
      findings: [{ cause: 'within-context', advice: unnamed }],
    },
    {
      name: 'half of a prompt that would have fitted',
      exchange: read(4000, 2048),
      findings: [
        {
          cause: 'within-context',
          message:
            'The prompt has 4000 tokens, and the engine answered after reading 2048 of them; 1952 are lost (its context holds 4096).',
        },
      ],
    },
    {
      name: 'the second prompt of a batch alone',
      exchange: read(0, 0, {
        body: { prompt: ['a', 'b'] },
        ids: [ids(3), ids(5000)],
        reply: { choices: [{ promptTokens: 3 }, { promptTokens: 4095 }] },
      }),
      findings: [{ promptIndex: 1 }],
    },
  ],
});

describe('prompt-truncated and count-mismatch', () => {
  it('never tell of the same prompt', () => {
    for (const [known, told] of [
      [9000, 2051],
      [9000, 8000],
      [40, 10],
      [100, 900],
      [264, 231],
    ] as const) {
      const exchange = buildExchange(read(known, told));
      const kinds = [...promptTruncated.detect(exchange), ...countMismatch.detect(exchange)];
      assert.equal(kinds.length, 1, `${known} against ${told}`);
    }
  });
});
