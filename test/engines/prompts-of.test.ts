// How the prompts of one request are asked for: each by itself, in their order, and never thousands at once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { OracleFailure } from '../../src/engines/oracle/oracle-failure.ts';
import { promptsOf } from '../../src/engines/prompts-of.ts';
import { typed } from './engine-under-test.ts';

describe('the prompts of a request', () => {
  it('are asked for a few at a time, so that none waits until its deadline is over', async () => {
    const prompt = Array.from({ length: 2000 }, (_, index) => `prompt ${index}`);
    let asked = 0;
    let most = 0;
    const read = await promptsOf<string>(typed('completion', { prompt }), {
      chat: () => assert.fail('it is no chat'),
      raw: async (one) => {
        asked += 1;
        most = Math.max(most, asked);
        await turn();
        asked -= 1;
        return one.form === 'text' ? one.text : one.form;
      },
    });
    assert.deepEqual(read, prompt);
    assert.ok(most > 1 && most <= 16, `${most} at once`);
  });

  it('are unknown by themselves, with the reason', async () => {
    const read = await promptsOf<string>(typed('completion', { prompt: ['a', 'b', 'c'] }), {
      chat: () => assert.fail('it is no chat'),
      raw: (one) => {
        if (one.form !== 'text') return one.form;
        if (one.text === 'a') throw new OracleFailure('oracle-refused', '/tokenize');
        if (one.text === 'c') throw new Error('a fault of ours');
        return one.text;
      },
    });
    assert.deepEqual(read, [
      { known: false, reason: 'oracle-refused' },
      'b',
      { known: false, reason: 'inspection-failed' },
    ]);
  });
});
