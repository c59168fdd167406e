// Which repairs are believed: what the new ids must be, and what the detectors must say of a request that is read again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectors } from '../../src/detectors/index.ts';
import { runDetectors } from '../../src/detectors/run.ts';
import type { RepairProof } from '../../src/exchange/finding.ts';
import { proveRepair, type Proven } from '../../src/pipeline/repair-proof.ts';
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

async function prove(before: ExchangeShape, after: ExchangeShape, proof: RepairProof): Promise<Proven> {
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
  const proofs = new Map([[0, proof]]);
  return proveRepair({ exchange, rereading, repaired: faults, proofs, withinMs: 1000 });
}

describe('a proof by ids', () => {
  const byIds: RepairProof = { by: 'ids', removesLeadingTokens: 1 };

  it('holds if the surplus is gone and nothing else', async () => {
    assert.equal(await prove(doubled, repaired, byIds), 'proven');
    assert.equal(await prove(doubled, { ...repaired, ids: [[2, 105, 8]] }, byIds), 'refuted');
    assert.equal(await prove(doubled, doubled, byIds), 'refuted');
  });

  it('needs no more than the head where the rest is not known', async () => {
    const headOnly = { ...doubled, ids: ['oracle-timeout'] } as const;
    const proof = await prove(headOnly, repaired, byIds);
    assert.deepEqual(proof, { unknown: 'oracle-timeout' }, 'without a head there is no proof');
  });
});

describe('a proof by rereading', () => {
  const byRereading: RepairProof = { by: 'rereading' };

  it('holds if the finding is gone, whatever else the ids are', async () => {
    assert.equal(await prove(doubled, { ...repaired, ids: [[2, 105, 8, 9]] }, byRereading), 'proven');
  });

  it('fails if the finding is still there', async () => {
    assert.equal(await prove(doubled, doubled, byRereading), 'refuted');
  });

  it('fails if another finding has come', async () => {
    const plain = { ...repaired, body: { prompt: 'Hi' } };
    assert.equal(await prove(doubled, plain, byRereading), 'refuted');
    const alreadyPlain = { ...doubled, body: { prompt: '<bos>Hi' } };
    assert.equal(await prove(alreadyPlain, plain, byRereading), 'proven', 'it was there before');
  });

  it('is unknown if something is not known, before or after', async () => {
    const unread = { ids: ['oracle-timeout'] } as const;
    const unknown = { unknown: 'oracle-timeout' };
    assert.deepEqual(await prove(doubled, { ...repaired, ...unread }, byRereading), unknown);
    assert.deepEqual(await prove({ ...doubled, ...unread }, repaired, byRereading), unknown);
  });

  it('leaves the other prompts to their ids', async () => {
    const before = batch(doubled, turn, [2, 105, 5]);
    assert.equal(await prove(before, batch(repaired, turn, [2, 105, 5]), byRereading), 'proven');
    assert.equal(await prove(before, batch(repaired, turn, [2, 105, 6]), byRereading), 'refuted');
  });
});
