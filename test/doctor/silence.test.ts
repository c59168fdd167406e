// Every reason for which an engine can't be asked has words of its own, and routers say what they have.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainSilence, type Asked } from '../../src/doctor/silence.ts';

const asked: Asked = {
  upstream: 'http://127.0.0.1:1',
  models: [],
  naming: 'with --model',
  engines: ['an-engine'],
};
const models = [
  { name: 'a', aliases: ['first'], status: 'loaded', trainedContextTokens: 0 },
  { name: 'b', aliases: [], status: 'sleeping', trainedContextTokens: 0 },
];

describe('why there is nothing to say', () => {
  const cases = [
    ['engine-unreachable', /^Nothing answers at http:\/\/127\.0\.0\.1:1\.$/, false],
    ['engine-cannot', /not as an engine that Tokenweir knows \(an-engine\)/, false],
    ['engine-loading', /still loading/, false],
    ['engine-sleeping', /sleeps/, false],
    ['oracle-timeout', /did not answer in time/, false],
    ['oracle-error', /can't be read \(oracle-error\)/, false],
    ['oracle-refused', /refuses the question\.$/, false],
    ['engine-busy', /limits requests: it gives no reason\.$/, false],
  ] as const;
  for (const [reason, message, isUsage] of cases) {
    it(reason, () => {
      const silence = explainSilence({ reason }, asked);
      assert.match(silence.message, message);
      assert.equal(silence.isUsage, isUsage);
    });
  }

  it('of an https upstream, names the certificate as a possible cause', () => {
    const { advice } = explainSilence(
      { reason: 'engine-unreachable' },
      { ...asked, upstream: 'https://gpu' },
    );
    assert.match(advice, /upstream\.ca/);
  });

  it('of a router without --model, lists what it has', () => {
    const silence = explainSilence({ reason: 'model-not-loaded' }, { ...asked, models });
    assert.match(silence.message, /It lists a \(loaded\), b \(sleeping\)\./);
    assert.equal(silence.isUsage, true);
  });

  it('of a model that a router does not have', () => {
    const silence = explainSilence({ reason: 'model-not-loaded' }, { ...asked, models, model: 'c' });
    assert.match(silence.message, /has no model "c"\. It lists a/);
    assert.equal(silence.isUsage, true);
  });

  it('of a model that a router has not loaded', () => {
    const silence = explainSilence({ reason: 'model-not-loaded' }, { ...asked, models, model: 'b' });
    assert.match(silence.message, /"b" at .* is sleeping, and a question would load it/);
    assert.equal(silence.isUsage, false);
  });
});
