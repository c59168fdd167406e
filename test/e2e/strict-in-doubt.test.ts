// Strict mode where something is missing: long prompts, an engine that does not answer questions, ids that the engine
// contradicts, a rule that would block too much. None of these may talk it past a check that it can make.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Q } from '../support/conversations.ts';
import { assertHas, chat, complete, learnt, send, settled } from '../support/exchanges.ts';
import { doubling } from '../support/byte-models.ts';
import { gatedEngine } from '../support/gated-engine.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(doubling.file);
const { skip } = engine;

const turn = '<|user|>Hi<|end|><|assistant|>';
const doubled = { prompt: `<s>${turn}` };
/** About 30,000 tokens in one segment. */
const long = 'Weir. '.repeat(5000);
const strict = { MODE: 'strict', INSPECTION_BUDGET_MS: '50' };
/** An answer of /props stands for less than this; then the engine is asked again whether it is the same. */
const propsStandMs = 1000;
const questions = ['/props', '/tokenize', '/apply-template'];
const silent = ['/tokenize', '/apply-template'];

/** The proxy, once it knows the model; then the engine is silent on these paths. */
async function serve(
  t: TestContext,
  settings: Readonly<Record<string, string>> = strict,
  hold: string[] = [],
) {
  const { gated, proxied } = await openGated(t, (await engine.server()).url, settings);
  await learnt(proxied);
  return { gated, proxied, gate: gated.hold(...hold) };
}

/** The proxy in front of an engine that has not answered any question yet. */
async function serveUnknown(t: TestContext, settings: Readonly<Record<string, string>>) {
  const gated = await gatedEngine((await engine.server()).url);
  const gate = gated.hold(...questions);
  t.after(() => gated.close());
  return { gated, proxied: await openProxy(t, gated.url, settings), gate };
}

describe('a long prompt', { skip }, () => {
  for (const timing of ['before', 'alongside']) {
    it(`is checked at its head, however short the budget, ${timing}`, async (t) => {
      const settings = { ...strict, INSPECTION_TIMING: timing };
      const { gated, proxied } = await serve(t, settings);
      // No tokens of this prompt are ever known.
      const gate = gated.hold('/tokenize');
      const answer = await complete(proxied, { prompt: `<s>${turn}${long}` });
      gate.open();
      assert.equal(answer.status, 400);
      assert.deepEqual(answer.said, { action: 'reject', findings: 'double-bos;literal', inspection: 'late' });
      assert.equal(gated.count('/completion'), 0);
    });
  }

  it('is repaired, too, by what its boundaries prove', async (t) => {
    const settings = { ...strict, DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' };
    const { gated, proxied } = await serve(t, settings);
    const text = turn + 'Weir. '.repeat(500);
    const direct = await complete(await engine.server(), { prompt: text });
    const gate = gated.hold('/tokenize');
    const answer = await complete(proxied, { prompt: `<s>${text}` });
    gate.open();
    assert.deepEqual(answer.said, { action: 'rewrite', findings: 'double-bos;literal', inspection: 'late' });
    assert.equal(answer.json['tokens_evaluated'], direct.json['tokens_evaluated']);
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
  });

  it('is rejected on the chat route before a token of it is known', async (t) => {
    const settings = { ...strict, DETECTORS_DOUBLE_BOS_REJECT_WHEN: 'always' };
    const { gated, proxied } = await serve(t, settings);
    const gate = gated.hold('/tokenize');
    const answer = await chat(proxied, { messages: [{ role: 'user', content: long }] });
    gate.open();
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.said, { action: 'reject', findings: 'double-bos;template', inspection: 'late' });
  });
});

describe('an engine that does not answer questions', { skip }, () => {
  it('is not needed to reject raw text once the model is known', async (t) => {
    const { gated, proxied } = await serve(t);
    const gate = gated.hold(...questions);
    await sleep(propsStandMs);
    const answer = await complete(proxied, doubled);
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.said, { action: 'reject', findings: 'double-bos;literal', inspection: 'late' });
    // It was asked whether it is still the same, and could not tell.
    assert.equal(gated.seen.at(-1)?.path, '/props');
    gate.open();
  });

  it('lets a chat go on after the blocking deadline', async (t) => {
    const settings = { ...strict, INSPECTION_BLOCKING_MS: '200' };
    const { gated, proxied } = await serve(t, settings);
    const gate = gated.hold(...silent);
    const answer = await chat(proxied, { messages: Q });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.said, { action: 'pass', findings: null, inspection: 'late' });
    gate.open();
    // What was found too late is still counted.
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'double-bos' }), 1);
    assert.equal(await proxied.metric('tokenweir_inspections_total', { result: 'late' }), 1);
  });

  for (const known of [true, false]) {
    it(`has a chat answered 503 where the unknown is rejected, model ${known ? 'known' : 'unknown'}`, async (t) => {
      const settings = { ...strict, INSPECTION_BLOCKING_MS: '200', INSPECTION_ON_UNKNOWN: 'reject' };
      const { gated, proxied, gate } = known
        ? await serve(t, settings, silent)
        : await serveUnknown(t, settings);
      const answer = await chat(proxied, { messages: Q });
      gate.open();
      assert.equal(answer.status, 503);
      assertHas(answer.json['error'] as Record<string, unknown>, { code: 'inspection_unknown' });
      assert.deepEqual(answer.said, { action: 'reject', findings: null, inspection: 'late' });
      assert.equal(gated.count('/v1/chat/completions'), 0);
    });
  }

  for (const onUnknown of ['forward', 'reject']) {
    it(`stalls while a repaired request is read again: the deadline holds, onUnknown ${onUnknown}`, async (t) => {
      const { gated, proxied } = await serve(t, {
        ...strict,
        INSPECTION_BUDGET_MS: '5000',
        INSPECTION_BLOCKING_MS: '200',
        INSPECTION_ON_UNKNOWN: onUnknown,
        DETECTORS_TRAILING_ASSISTANT_ACTION: 'rewrite',
      });
      const body = { messages: [...Q, { role: 'assistant', content: '' }] };
      const gate = gated.holdAfter(1, '/apply-template');
      const answer = await chat(proxied, body);
      await gate.reached;
      gate.open();
      const found = { findings: 'double-bos;template, trailing-assistant;empty', inspection: 'ok' };
      if (onUnknown === 'forward') {
        assert.equal(answer.status, 200);
        assert.deepEqual(answer.said, { ...found, action: 'pass' });
        const sent = JSON.parse(String(gated.bodies('/v1/chat/completions').at(-1))) as Record<
          string,
          unknown
        >;
        assertHas(sent, body);
      } else {
        assert.equal(answer.status, 503);
        assert.deepEqual(answer.said, { ...found, action: 'reject' });
        const error = answer.json['error'] as Record<string, unknown>;
        assertHas(error, { code: 'inspection_unknown' });
        assert.match(String(error['message']), /the repair of trailing-assistant could not be proven/);
        assert.equal(gated.count('/v1/chat/completions'), 0);
      }
      const reason = { reason: 'budget-exhausted' };
      assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', reason), 1);
    });
  }

  it('rejects nothing while no model is known, unless told to', async (t) => {
    const { proxied, gate } = await serveUnknown(t, { ...strict, INSPECTION_BLOCKING_MS: '200' });
    const answer = await complete(proxied, doubled);
    gate.open();
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.said, { action: 'pass', findings: null, inspection: 'late' });
  });

  it('stands still as a whole: raw text is rejected all the same', async (t) => {
    const server = await engine.server();
    const proxied = await openProxy(t, server.url, strict);
    await learnt(proxied);
    await server.pause();
    await sleep(propsStandMs);
    try {
      const signal = AbortSignal.timeout(5000);
      assert.equal((await send(`${proxied.url}/completion`, doubled, { signal })).status, 400);
    } finally {
      server.resume();
    }
  });
});

describe('ids that the engine contradicts', { skip }, () => {
  it('are blocked on no more, after three counts that differ', async (t) => {
    const { gated, proxied } = await serve(t);
    gated.answer('/completion', { index: 0, content: 'a', tokens: [], stop: true, tokens_evaluated: 999 });
    for (let count = 1; count <= 3; count += 1) {
      assert.equal((await complete(proxied, doubled)).status, 400);
      await complete(proxied, { prompt: turn });
      await settled(proxied, 2 * count);
    }
    assert.equal(await proxied.metric('tokenweir_ids_verified'), 0);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'mismatch' }), 3);
    const passed = await complete(proxied, doubled);
    assert.equal(passed.status, 200);
    assert.deepEqual(passed.said, { action: 'pass', findings: 'double-bos;literal', inspection: 'ok' });
    const events = proxied.lines.map(({ event }) => event);
    assert.ok(events.includes('ids-unverified'));
    assert.ok(events.includes('memoising-off'));
  });
});

describe('a rule that would block too much', { skip }, () => {
  it('is suspended once the window is full, and says so', async (t) => {
    const settings = { ...strict, POLICIES_WINDOW_REQUESTS: '10', POLICIES_MAX_REJECTED_RATIO: '0.5' };
    const { proxied } = await serve(t, settings);
    const statuses = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await complete(proxied, doubled)).status);
    assert.deepEqual(statuses, [...Array<number>(10).fill(400), 200]);
    assert.equal(await proxied.metric('tokenweir_rejections_suspended'), 1);
    assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'double-bos' }), 11);
    const line = proxied.lines.find(({ event }) => event === 'rejection-breaker');
    assertHas(line, { level: 'warn', state: 'open' });
  });

  it('is kept while it blocks no more than the share allowed', async (t) => {
    const settings = { ...strict, POLICIES_WINDOW_REQUESTS: '10', POLICIES_MAX_REJECTED_RATIO: '0.5' };
    const { proxied } = await serve(t, settings);
    for (let count = 0; count < 12; count += 1) {
      const expected = count % 2 === 0 ? 200 : 400;
      assert.equal((await complete(proxied, count % 2 === 0 ? { prompt: turn } : doubled)).status, expected);
    }
    assert.equal(await proxied.metric('tokenweir_rejections_suspended'), 0);
  });
});
