// Suggestions: near words are offered, far ones are not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearest } from '../../src/config/suggest.ts';

describe('nearest', () => {
  const keys = ['budgetMs', 'blockingMs', 'onUnknown', 'timing', 'exempt'];
  const table = [
    ['budget_ms', 'budgetMs'],
    ['BudgetMs', 'budgetMs'],
    ['budgetMS', 'budgetMs'],
    ['tiimng', 'timing'],
    ['exemt', 'exempt'],
    ['unknown', 'onUnknown'],
    ['verbose', undefined],
    ['x', undefined],
  ] as const;
  for (const [word, expected] of table) {
    it(`${expected === undefined ? 'offers nothing' : `offers ${expected}`} for ${word}`, () => {
      assert.equal(nearest(word, keys), expected);
    });
  }
});
