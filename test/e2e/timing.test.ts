// When the inspection may hold a request and for how long; what it finds too late; what a client's leaving ends.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withBos } from '../support/byte-models.ts';
import {
  assertHas,
  chat,
  clean,
  complete,
  eventually,
  learnt,
  requestFindings,
  settled,
} from '../support/exchanges.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;

const { turn } = withBos;
const doubled = { prompt: `<s>${turn}` };
const late = { action: 'pass', findings: null, inspection: 'late' };
const user = (content: string) => ({ role: 'user', content });
const questions = ['/tokenize', '/apply-template'];

describe('the budget', { skip }, () => {
  it('is not used up by a request that is inspected in time', async (t) => {
    const proxied = await openProxy(t, (await engine.server()).url);
    await learnt(proxied);
    assert.deepEqual((await chat(proxied, { messages: [user('Hi')] })).said, clean);
    assert.equal(await proxied.metric('tokenweir_inspections_total', { result: 'ok' }), 1);
  });

  for (const [timing, budget] of [
    ['before', '50'],
    ['alongside', '20000'],
  ] as const) {
    it(`lets a request go on ${timing === 'before' ? 'once it is over' : 'at once'}, timing ${timing}; what is found later counts`, async (t) => {
      const settings = { INSPECTION_TIMING: timing, INSPECTION_BUDGET_MS: budget };
      const { gated, proxied } = await openGated(t, (await engine.server()).url, settings);
      await learnt(proxied);
      const gate = gated.hold(...questions);
      const answer = await complete(proxied, { prompt: `<s>${turn}new` });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.said, late);
      assert.equal(await proxied.metric('tokenweir_inspections_total', { result: 'late' }), 1);
      assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'double-bos' }), 0);
      gate.open();
      await settled(proxied, 1);
      assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'double-bos' }), 1);
      assertHas((await requestFindings(proxied))[0], {
        kind: 'double-bos',
        action: 'pass',
        culprit: 'client',
      });
      assertHas(
        proxied.lines.find(({ kind }) => kind === 'double-bos'),
        { level: 'error' },
      );
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
      // Late it stays: the moments are counted once each.
      assert.equal(await proxied.metric('tokenweir_inspections_total'), 1);
      assert.equal(await proxied.metric('tokenweir_requests_total'), 1);
    });
  }

  it('that was over does not cost the next turn its ancestor', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url, {
      INSPECTION_BUDGET_MS: '50',
    });
    await learnt(proxied);
    const first = [user('One')];
    const gate = gated.hold(...questions);
    assert.deepEqual((await chat(proxied, { messages: first })).said, late);
    gate.open();
    await settled(proxied, 1);
    await chat(proxied, { messages: [...first, { role: 'assistant', content: 'a' }, user('Two')] });
    await settled(proxied, 2);
    assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'ancestor' }), 1);
    assert.equal(await proxied.metric('tokenweir_prefix_breaks_total'), 0);
  });

  it('does not hold a stream: its first bytes come while the questions are open', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url, { INSPECTION_BUDGET_MS: '0' });
    await learnt(proxied);
    const gate = gated.hold(...questions);
    const reply = await fetch(`${proxied.url}/completion`, {
      method: 'POST',
      body: JSON.stringify({ prompt: `${turn}stream`, n_predict: 2, stream: true }),
    });
    assert.match(await reply.text(), /"stop":true/);
    assert.equal(reply.headers.get('tokenweir-inspection'), 'late');
    gate.open();
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
  });
});

describe('a client that leaves', { skip }, () => {
  const endless = { n_predict: -1, ignore_eos: true };

  it('ends its stream upstream, and its turn is remembered: the engine has it in its cache', async (t) => {
    const server = await engine.server();
    const proxied = await openProxy(t, server.url);
    await learnt(proxied);
    const printed = server.log().length;
    const leaving = new AbortController();
    const reply = await fetch(`${proxied.url}/completion`, {
      method: 'POST',
      body: JSON.stringify({ prompt: `${turn}left`, stream: true, ...endless }),
      signal: leaving.signal,
    });
    await reply.body?.getReader().read();
    leaving.abort();
    await server.waitForLog(/cancel task, id_task = \d+/, { from: printed });
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'client-aborted' }), 1);
    const next = await complete(proxied, { prompt: `${turn}left<|end|><|user|>Again<|end|><|assistant|>` });
    assert.deepEqual(next.said, clean);
    assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'ancestor' }), 1);
  });

  it('has its turn remembered as soon as the engine generates, while the stream still runs', async (t) => {
    const proxied = await openProxy(t, (await engine.server()).url);
    await learnt(proxied);
    const leaving = new AbortController();
    const reply = await fetch(`${proxied.url}/completion`, {
      method: 'POST',
      body: JSON.stringify({ prompt: `${turn}runs`, stream: true, ...endless }),
      signal: leaving.signal,
    });
    await reply.body?.getReader().read();
    await complete(proxied, { prompt: `${turn}runs<|end|><|user|>Again<|end|><|assistant|>` });
    assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'ancestor' }), 1);
    leaving.abort();
  });

  it('ends its request upstream before the first byte of the reply', async (t) => {
    const server = await engine.server();
    const proxied = await openProxy(t, server.url);
    await learnt(proxied);
    const printed = server.log().length;
    const leaving = new AbortController();
    const request = fetch(`${proxied.url}/completion`, {
      method: 'POST',
      body: JSON.stringify({ prompt: turn, ...endless }),
      signal: leaving.signal,
    });
    await server.waitForLog(/launch_slot_: id +\d+ \| task \d+/, { from: printed });
    leaving.abort();
    await assert.rejects(request);
    await server.waitForLog(/cancel task, id_task = \d+/, { from: printed });
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'client-aborted' }), 1);
  });

  it('while its request is still being inspected: the engine never sees it', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url);
    await learnt(proxied);
    const gate = gated.hold('/apply-template');
    const leaving = new AbortController();
    const request = fetch(`${proxied.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages: [user('Nobody waits for this')], max_tokens: 2 }),
      signal: leaving.signal,
    });
    await gate.reached;
    leaving.abort();
    await assert.rejects(request);
    await settled(proxied, 1);
    gate.open();
    assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'client-aborted' }), 1);
    assert.equal(gated.count('/v1/chat/completions'), 0);
    // The next one is not held up by what was asked for the first.
    assert.deepEqual((await complete(proxied, doubled)).said, {
      action: 'pass',
      findings: 'double-bos;literal',
      inspection: 'ok',
    });
    await eventually(
      async () => (await proxied.metric('tokenweir_in_flight_requests')) === 0,
      'nothing in flight',
    );
  });
});
