// Our own questions to the engine: few at once, none for ever, and no answer is believed that has not the right shape.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withBos } from '../support/byte-models.ts';
import { chat, clean, complete, eventually, learnt, settled } from '../support/exchanges.ts';
import { openGated } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;

const say = (content: string) => ({ messages: [{ role: 'user', content }] });

describe('questions to the engine', { skip }, () => {
  it('are so many at once, whatever the traffic', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url, {
      LIMITS_ORACLE_CONCURRENCY: '2',
    });
    await learnt(proxied);
    const gate = gated.hold('/apply-template');
    const asked = gated.count('/apply-template');
    const answers = Array.from({ length: 8 }, (_, index) => chat(proxied, say(`Number ${index}`)));
    await eventually(() => gated.count('/apply-template') === asked + 2, 'two questions are asked');
    await eventually(
      async () => (await proxied.metric('tokenweir_in_flight_requests')) === 8,
      'all requests came',
    );
    assert.equal(gated.count('/apply-template'), asked + 2);
    gate.open();
    for (const { said } of await Promise.all(answers)) assert.deepEqual(said, clean);
    assert.equal(gated.count('/apply-template'), asked + 8);
  });

  it('are given up at their deadline', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url, {
      LIMITS_ORACLE_TIMEOUT_MS: '300',
    });
    await learnt(proxied);
    const gate = gated.hold('/apply-template');
    const answer = await chat(proxied, say('Hi'));
    gate.open();
    assert.equal(answer.status, 200);
    assert.equal(answer.said.inspection, 'unknown;oracle-timeout');
    assert.equal(await proxied.metric('tokenweir_oracle_requests_total', { result: 'timeout' }), 1);
    assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', { reason: 'oracle-timeout' }), 1);
  });

  for (const [what, path, lie] of [
    ['a text that is none', '/apply-template', { prompt: 5 }],
    ['no ids', '/tokenize', { tokens: 'many' }],
    ['ids of fewer texts than were asked', '/tokenize', { tokens: [1] }],
  ] as const) {
    it(`that are answered with ${what} tell nothing`, async (t) => {
      const { gated, proxied } = await openGated(t, (await engine.server()).url);
      await learnt(proxied);
      gated.answer(path, lie);
      const answer = await chat(proxied, say(`What is ${what}?`));
      assert.equal(answer.status, 200);
      assert.equal(answer.said.inspection, 'unknown;oracle-error');
      await settled(proxied, 1);
      assert.equal(await proxied.metric('tokenweir_prompt_tokens_total'), 0);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'absent' }), 1);
    });
  }

  it('whose answer is a lie of the right shape are found out by the count of the reply', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url);
    await learnt(proxied);
    gated.answer('/tokenize', { tokens: [1, 2, 3] });
    const answer = await complete(proxied, { prompt: 'one text only' });
    assert.equal(answer.status, 200);
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'mismatch' }), 1);
    assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'count-mismatch' }), 1);
    assert.ok(proxied.lines.some(({ event }) => event === 'memoising-off'));
  });

  it('that the engine breaks off cost the request nothing', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url);
    await learnt(proxied);
    gated.breakOff('/apply-template');
    const answer = await chat(proxied, say('Hi'));
    assert.equal(answer.status, 200);
    assert.equal(answer.said.inspection, 'unknown;engine-unreachable');
    assert.equal(await proxied.metric('tokenweir_oracle_requests_total', { result: 'unreachable' }), 1);
  });
});
