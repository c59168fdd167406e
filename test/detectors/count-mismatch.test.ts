// The engine's counts against the ids, per prompt and choice, and all the ways in which nothing can be said.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkCounts } from '../../src/detectors/count-check.ts';
import { countMismatch } from '../../src/detectors/count-mismatch.ts';
import { testDetector } from '../support/detector-tester.ts';
import { buildExchange, type ExchangeShape } from '../support/exchange-builder.ts';

const one: ExchangeShape = { route: 'completion', body: { prompt: 'hi' }, ids: [[2, 5, 6]] };
const two: ExchangeShape = {
  route: 'completion',
  body: { prompt: ['a', 'b'] },
  ids: [
    [2, 5],
    [2, 5, 6],
  ],
};
const picture = {
  messages: [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
  ],
};

testDetector(countMismatch, {
  clean: [
    { name: 'the same count', exchange: { ...one, reply: { choices: [{ promptTokens: 3 }] } } },
    { name: 'no count', exchange: { ...one, reply: { choices: [{}] } } },
    {
      name: 'ids that were not read',
      exchange: { ...one, ids: ['oracle-timeout'], reply: { choices: [{ promptTokens: 3 }] } },
    },
    {
      name: 'media',
      exchange: { route: 'chat', body: picture, ids: [[2, 5]], reply: { choices: [{ promptTokens: 300 }] } },
    },
    {
      name: 'an error of the engine',
      exchange: { ...one, reply: { status: 400, choices: [{ promptTokens: 9 }] } },
    },
    {
      name: 'the same ids',
      exchange: { ...one, reply: { choices: [{ promptTokens: 3, promptIds: [2, 5, 6] }] } },
    },
    {
      name: 'two prompts, each with its count',
      exchange: { ...two, reply: { choices: [{ promptTokens: 2 }, { promptTokens: 3 }] } },
    },
  ],
  found: [
    {
      name: 'as many ids, and another one among them',
      exchange: {
        ...two,
        reply: { choices: [{ promptTokens: 2 }, { promptTokens: 3, promptIds: [2, 5, 7] }] },
      },
      findings: [{ cause: 'other-ids', culprit: 'engine', promptIndex: 1 }],
    },
    {
      name: 'a count that is higher',
      exchange: { ...one, reply: { choices: [{ promptTokens: 4 }] } },
      findings: [{ cause: 'engine-more', severity: 'warning', culprit: 'engine', promptIndex: 0 }],
    },
    {
      name: 'a count that is lower, of the second prompt alone',
      exchange: { ...two, reply: { choices: [{ promptTokens: 2 }, { promptTokens: 2 }] } },
      findings: [{ cause: 'engine-fewer', promptIndex: 1 }],
    },
    {
      name: 'the second prompt of a request with three answers each',
      exchange: {
        ...two,
        body: { prompt: ['a', 'b'], n: 3 },
        reply: { choices: [{ index: 4, promptTokens: 9 }] },
      },
      findings: [{ promptIndex: 1 }],
    },
  ],
});

describe('checkCounts', () => {
  const check = (shape: ExchangeShape): string => checkCounts(buildExchange(shape)).result;

  it('says match only if every prompt was compared', () => {
    assert.equal(check({ ...two, reply: { choices: [{ promptTokens: 2 }, { promptTokens: 3 }] } }), 'match');
    assert.equal(check({ ...two, reply: { choices: [{ promptTokens: 2 }, {}] } }), 'partial');
    assert.equal(
      check({ ...two, ids: [[2, 5], 'oracle-timeout'], reply: { choices: [{ promptTokens: 2 }] } }),
      'partial',
    );
  });

  it('takes one count for all answers to the same prompt', () => {
    assert.equal(
      check({ ...one, body: { prompt: 'hi', n: 2 }, reply: { choices: [{ promptTokens: 3 }, {}] } }),
      'match',
    );
  });

  it('says absent where nothing could be compared', () => {
    assert.equal(check(one), 'absent');
    assert.equal(check({ ...one, reply: { choices: [] } }), 'absent');
    assert.equal(check({ ...one, ids: [], reply: { choices: [{ promptTokens: 3 }] } }), 'absent');
  });
});
