// Real reports, as requests of our own: everything that should be found is, and nobody else is accused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { realEngine } from '../support/real-engine.ts';
import { corpusCases } from './case.ts';
import { CorpusEngines, runCase } from './run-case.ts';
import { summaryOf } from './summary.ts';

const { skip } = await realEngine('qwen3');
const cases = corpusCases();
const engines = new CorpusEngines();
after(() => engines.stop());

describe('the corpus', { skip }, () => {
  for (const one of cases) {
    it(`${one.id}: ${one.what}`, async () => {
      const { missed, falseAlarms } = await runCase(one, engines);
      const told = falseAlarms.map(({ kind, cause, message }) => ({ kind, cause, message }));
      assert.deepEqual({ missed, falseAlarms: told }, { missed: [], falseAlarms: [] });
    });
  }
});

describe('the cases of the corpus', () => {
  it('are there once each', () => {
    assert.equal(new Set(cases.map(({ id }) => id)).size, cases.length);
  });

  it('are counted in the README as npm run corpus counts them', () => {
    const readme = readFileSync('README.md', 'utf8').replaceAll(/\s+/g, ' ');
    assert.ok(readme.includes(summaryOf(cases)), summaryOf(cases));
  });
});
