// Which repairs are believed: what the new ids must be, and what the detectors must say of a request that is read again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectors } from '../../src/detectors/index.ts';
import { runDetectors } from '../../src/detectors/run.ts';
import type { RepairProof } from '../../src/exchange/finding.ts';
import { proveRepair } from '../../src/pipeline/repair-proof.ts';
import type { Rereading } from '../../src/pipeline/stages.ts';
import { buildExchange, type ExchangeShape } from '../support/exchange-builder.ts';

const turn = '<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n';
const doubled: ExchangeShape = {
  route: 'completion',
  body: { prompt: `<bos>${turn}` },
  ids: [[2, 2, 105, 7]],
};
const repaired: ExchangeShape = { route: 'completion', body: { prompt: turn }, ids: [[2, 105, 7]] };
const batch = (first: ExchangeShape, second: string, ids: readonly number[]): ExchangeShape => ({
  route: 'completion',
  body: { prompt: [(first.body as { prompt: string }).prompt, second] },
  ids: [first.ids![0]!, ids],
});

async function isProven(before: ExchangeShape, after: ExchangeShape, proof: RepairProof): Promise<boolean> {
  const exchange = buildExchange(before);
  const { findings } = runDetectors(exchange, { detectors, stage: 'request' });
  const { request, heads, prompts } = buildExchange(after);
  const rereading: Rereading = {
    request: request!,
    heads,
    prompts: () => Promise.resolve(prompts),
    adopt: () => Promise.reject(new Error('a proof adopts nothing')),
  };
  const faults = findings.filter(({ kind }) => kind === 'double-bos');
  return proveRepair(exchange, rereading, faults, new Map([[0, proof]]));
}

describe('a proof by ids', () => {
  const byIds: RepairProof = { by: 'ids', removesLeadingTokens: 1 };

  it('holds if the surplus is gone and nothing else', async () => {
    assert.ok(await isProven(doubled, repaired, byIds));
    assert.ok(!(await isProven(doubled, { ...repaired, ids: [[2, 105, 8]] }, byIds)));
    assert.ok(!(await isProven(doubled, doubled, byIds)));
  });

  it('needs no more than the head where the rest is not known', async () => {
    const headOnly = { ...doubled, ids: ['oracle-timeout'] } as const;
    assert.ok(!(await isProven(headOnly, repaired, byIds)), 'without a head there is no proof');
  });
});

describe('a proof by rereading', () => {
  const byRereading: RepairProof = { by: 'rereading' };

  it('holds if the finding is gone, whatever else the ids are', async () => {
    assert.ok(await isProven(doubled, { ...repaired, ids: [[2, 105, 8, 9]] }, byRereading));
  });

  it('fails if the finding is still there', async () => {
    assert.ok(!(await isProven(doubled, doubled, byRereading)));
  });

  it('fails if another finding has come', async () => {
    const plain = { ...repaired, body: { prompt: 'Hi' } };
    assert.ok(!(await isProven(doubled, plain, byRereading)));
    const alreadyPlain = { ...doubled, body: { prompt: '<bos>Hi' } };
    assert.ok(await isProven(alreadyPlain, plain, byRereading), 'it was there before');
  });

  it('fails if something is no longer known', async () => {
    assert.ok(!(await isProven(doubled, { ...repaired, ids: ['oracle-timeout'] }, byRereading)));
    assert.ok(!(await isProven({ ...doubled, ids: ['oracle-timeout'] }, repaired, byRereading)));
  });

  it('leaves the other prompts to their ids', async () => {
    const before = batch(doubled, turn, [2, 105, 5]);
    assert.ok(await isProven(before, batch(repaired, turn, [2, 105, 5]), byRereading));
    assert.ok(!(await isProven(before, batch(repaired, turn, [2, 105, 6]), byRereading)));
  });
});
