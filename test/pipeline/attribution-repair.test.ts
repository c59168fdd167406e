// When the repair of an attribution line is given up: whatever is not known in time leaves the request as it came.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TokenRead } from '../../src/exchange/token-read.ts';
import { repairAttribution } from '../../src/pipeline/attribution-repair.ts';
import type { Rereading, Stages } from '../../src/pipeline/stages.ts';
import { buildExchange, factsOf } from '../support/exchange-builder.ts';
import { known, never } from './scripted-engine.ts';

const body = (texts: readonly string[]) => ({
  system: texts.map((text) => ({ type: 'text', text })),
  messages: [{ role: 'user', content: 'Hi' }],
});
const withinMs = 20;
const line = 'x-anthropic-billing-header: cch=a5145;';
const session = {
  session: 's',
  keySource: 'ancestor',
  sequence: 1,
  commonMessages: 0,
  commonTokens: 0,
  branches: false,
} as const;
const sent = () =>
  buildExchange({
    route: 'messages',
    body: body([line, 'You are.']),
    ids: [[1, 20, 21, 5]],
    facts: factsOf.qwen3,
    session,
  });
const cut = buildExchange({ route: 'messages', body: body(['You are.']), facts: factsOf.qwen3 });

function stagesWith(prompts: () => Promise<readonly TokenRead[]>, reread?: Stages['reread']): Stages {
  const ok = Promise.resolve({ result: 'ok' } as const);
  const rereading: Rereading = { request: cut.request!, heads: [], prompts, adopt: () => ok };
  return { head: ok, whole: ok, reread: reread ?? (() => Promise.resolve(rereading)) };
}

describe('the repair of an attribution line', () => {
  it('is made where the ids prove it', async () => {
    const exchange = sent();
    const repair = await repairAttribution(
      exchange,
      stagesWith(() => Promise.resolve([known(1, 5)])),
      'cut',
      withinMs,
    );
    assert.deepEqual(repair?.body, cut.request?.body);
    assert.deepEqual(exchange.sent, {
      ids: { head: Uint32Array.of(1, 20, 21), from: 1 },
      removedItem: ['system', 0],
    });
  });

  const givenUp: readonly [string, Stages][] = [
    ['the ids are others than those without the line', stagesWith(() => Promise.resolve([known(1, 6)]))],
    ['the ids are not known', stagesWith(() => Promise.resolve([{ known: false, reason: 'oracle-error' }]))],
    ['the ids do not come', stagesWith(never)],
    ['the repaired request can not be read', stagesWith(never, () => Promise.resolve(undefined))],
    ['the engine does not render it', stagesWith(never, never)],
  ];
  for (const [name, stages] of givenUp) {
    it(`is given up where ${name}`, async () => {
      const exchange = sent();
      const before = structuredClone({ ...exchange, request: exchange.request?.json });
      assert.equal(await repairAttribution(exchange, stages, 'cut', withinMs), undefined);
      assert.deepEqual({ ...exchange, request: exchange.request?.json }, before);
    });
  }

  it('is not tried without a session, without ids, or where lines are kept', async () => {
    const asked: Stages = stagesWith(never, () => Promise.reject(new Error('nothing is to be read again')));
    const unread = buildExchange({ route: 'messages', body: body([line, 'B']), ids: ['media'], session });
    const alone = sent();
    delete alone.session;
    assert.equal(await repairAttribution(unread, asked, 'cut', withinMs), undefined);
    assert.equal(await repairAttribution(alone, asked, 'cut', withinMs), undefined);
    assert.equal(await repairAttribution(sent(), asked, 'keep', withinMs), undefined);
  });
});
