// Each case as a test: everything that should be found is, and nobody else is accused.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { realEngine } from '../support/real-engine.ts';
import type { CorpusCase } from './case.ts';
import { CorpusEngines, runCase } from './run-case.ts';

export async function testCases(name: string, cases: readonly CorpusCase[]): Promise<void> {
  const { skip } = await realEngine('qwen3');
  const engines = new CorpusEngines();
  after(() => engines.stop());
  describe(name, { skip }, () => {
    for (const one of cases) {
      it(`${one.id}: ${one.what}`, async () => {
        const { missed, falseAlarms } = await runCase(one, engines);
        const told = falseAlarms.map(({ kind, cause, message }) => ({ kind, cause, message }));
        assert.deepEqual({ missed, falseAlarms: told }, { missed: [], falseAlarms: [] });
      });
    }
  });
}
