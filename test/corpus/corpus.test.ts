// Real reports, as requests of our own.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { corpusCases, isVariant } from './case.ts';
import { summaryOf } from './summary.ts';
import { testCases } from './test-cases.ts';

const cases = corpusCases();
await testCases(
  'the corpus',
  cases.filter((one) => !isVariant(one)),
);

describe('the cases of the corpus', () => {
  it('are there once each', () => {
    assert.equal(new Set(cases.map(({ id }) => id)).size, cases.length);
  });

  it('are counted in the README as npm run corpus counts them', () => {
    const readme = readFileSync('README.md', 'utf8').replaceAll(/\s+/g, ' ');
    assert.ok(readme.includes(summaryOf(cases)), summaryOf(cases));
  });
});
