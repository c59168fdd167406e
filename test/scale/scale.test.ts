// A small share of what `npm run scale` does: generated clean conversations have nothing above info, and of each injected
// fault the kind is found. The seeds are fixed here and new ones in every scored run.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findingKinds } from '../../src/exchange/finding.ts';
import { realEngine } from '../support/real-engine.ts';
import { families } from './families.ts';
import { runClean, runFaulty } from './run.ts';
import { alarms, isFound } from './score.ts';

const { skip } = await realEngine('qwen3');
const perFamily = 15;

function seedsFrom(first: number): number[] {
  return Array.from({ length: perFamily }, (_, index) => first + index);
}

describe('generated conversations', { skip }, () => {
  for (const family of families) {
    it(`${family.name}: nothing above info where nothing is wrong`, async () => {
      const judged = await runClean(family, seedsFrom(31_000));
      assert.deepEqual(judged.flatMap(alarms), []);
    });

    it(`${family.name}: each injected fault is found`, async () => {
      const judged = await runFaulty(family, seedsFrom(32_000), new Set(findingKinds));
      assert.equal(judged.length, perFamily);
      assert.deepEqual(
        judged.filter((one) => !isFound(one)),
        [],
      );
    });
  }
});
