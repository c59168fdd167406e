// Strict mode on a real engine: what it blocks, what it repairs, what it must leave alone and say so.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Q } from '../support/conversations.ts';
import { assertHas, chat, complete, requestFindings, send, settled } from '../support/exchanges.ts';
import { doubling } from '../support/byte-models.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const doublingEngine = await realEngine(doubling.file);
const { skip } = gemma3;

const strict = { MODE: 'strict' };
const rewrite = { MODE: 'strict', DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' };
const turn = '<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n';

interface Problem {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

describe('strict mode rejects', { skip }, () => {
  for (const path of ['/completion', '/completions', '/v1/completions']) {
    it(`a doubled BOS on ${path}, saying what, where and how to fix it`, async (t) => {
      const { gated, proxied } = await openGated(t, (await gemma3.server()).url, strict);
      const answer = await send(`${proxied.url}${path}`, { prompt: `<bos>${turn}`, max_tokens: 1 });
      assert.equal(answer.status, 400);
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
      const { message, ...rest } = answer.json['error'] as Problem;
      assert.deepEqual(rest, { type: 'invalid_request_error', param: 'prompt', code: 'double_bos' });
      assert.match(message, /^double-bos \(in prompt, at tokens 0–1\): .*2 BOS tokens.* Leave <bos> out/);
      assert.equal(gated.count(path), 0);
      await settled(proxied, 1);
      assertHas((await requestFindings(proxied))[0], { kind: 'double-bos', action: 'reject' });
    });
  }

  it('in a way that a browser lets its page read', async (t) => {
    const proxied = await openProxy(t, (await gemma3.server()).url, strict);
    const origin = 'https://chat.example';
    const { status, headers } = await complete(proxied, { prompt: `<bos>${turn}` }, { origin });
    assert.equal(status, 400);
    assert.equal(headers.get('access-control-allow-origin'), origin);
    assert.match(headers.get('access-control-expose-headers') ?? '', /tokenweir-action/);
    const { headers: without } = await complete(proxied, { prompt: `<bos>${turn}` });
    assert.equal(without.get('access-control-allow-origin'), null);
  });

  it('one prompt of a batch, and with it all of them', async (t) => {
    const { gated, proxied } = await openGated(t, (await gemma3.server()).url, strict);
    const answer = await complete(proxied, { prompt: [turn, `<bos>${turn}`] });
    assert.equal(answer.status, 400);
    assert.match((answer.json['error'] as Problem).message, /prompt\[1\]/);
    assert.equal(gated.count('/completion'), 0);
  });

  it("a client's own ids that begin with two BOS, in both settings, for ids can't be repaired", async (t) => {
    const prompt = [2, 2, 105, 2364, 107];
    const rejecting = await openProxy(t, (await gemma3.server()).url, strict);
    const rejected = await complete(rejecting, { prompt });
    assert.equal(rejected.status, 400);
    assertHas((await requestFindings(rejecting))[0], {
      cause: 'ids',
      culprit: 'client',
      tokens: { start: 0, end: 2 },
    });
    const rewriting = await openProxy(t, (await gemma3.server()).url, rewrite);
    const passed = await complete(rewriting, { prompt });
    assert.equal(passed.status, 200);
    assert.equal(passed.json['tokens_evaluated'], 5);
    assert.deepEqual(passed.said, { action: 'pass', findings: 'double-bos;ids', inspection: 'ok' });
  });

  it('a raw prompt, where the operator asks for it', async (t) => {
    const settings = { MODE: 'strict', DETECTORS_RAW_PROMPT_ACTION: 'reject' };
    const { gated, proxied } = await openGated(t, (await gemma3.server()).url, settings);
    const prompt = 'What is 2 + 2?';
    const answer = await send(`${proxied.url}/v1/completions`, { prompt, max_tokens: 8 });
    assert.equal(answer.status, 400);
    assertHas(answer.json['error'] as Record<string, unknown>, { code: 'raw_prompt', param: 'prompt' });
    assert.equal(gated.count('/v1/completions'), 0);
    const byDefault = await openProxy(t, (await gemma3.server()).url, strict);
    const passed = await complete(byDefault, { prompt });
    assert.deepEqual(passed.said, { action: 'pass', findings: 'raw-prompt;plain-text', inspection: 'ok' });
  });
});

describe('strict mode rewrites', { skip }, () => {
  it('every surplus BOS, and the rest of the body arrives as it was sent', async (t) => {
    const proxied = await openProxy(t, (await gemma3.server()).url, rewrite);
    const direct = await complete(await gemma3.server(), { prompt: turn, seed: 1, temperature: 0 });
    const answer = await complete(proxied, { prompt: `<bos><bos><bos>${turn}`, seed: 1, temperature: 0 });
    assert.equal(answer.said.action, 'rewrite');
    for (const name of ['content', 'prompt', 'tokens_evaluated']) {
      assert.deepEqual(answer.json[name], direct.json[name], name);
    }
    await settled(proxied, 1);
    assertHas((await requestFindings(proxied))[0], { action: 'rewrite', tokens: { start: 0, end: 4 } });
  });

  it('only the prompt of a batch that needs it', async (t) => {
    const proxied = await openProxy(t, (await gemma3.server()).url, rewrite);
    const answer = await complete(proxied, { prompt: [turn, `<bos>${turn}`] });
    assert.equal(answer.said.action, 'rewrite');
    const evaluated = (answer.json as unknown as { tokens_evaluated: number }[]).map(
      (one) => one.tokens_evaluated,
    );
    assert.deepEqual(evaluated, [evaluated[1], evaluated[0]]);
  });

  it('and remembers the repaired turn: the next one is no break', async (t) => {
    const proxied = await openProxy(t, (await gemma3.server()).url, rewrite);
    await complete(proxied, { prompt: `<bos>${turn}` });
    const next = await complete(proxied, { prompt: `<bos>${turn}Hello<end_of_turn>\n${turn}` });
    assert.deepEqual(next.said, { action: 'rewrite', findings: 'double-bos;literal', inspection: 'ok' });
    assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'ancestor' }), 1);
  });
});

describe('strict mode does not block the innocent', { skip }, () => {
  it('where the template writes BOS twice, and says who did it', async (t) => {
    const proxied = await openProxy(t, (await doublingEngine.server()).url, strict);
    const answer = await chat(proxied, { messages: Q });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.said, { action: 'pass', findings: 'double-bos;template', inspection: 'ok' });
    assertHas((await requestFindings(proxied))[0], {
      culprit: 'template',
      severity: 'error',
      tokens: { start: 0, end: 2 },
      action: 'pass',
    });
  });

  for (const [path, body] of [
    ['/v1/messages', { max_tokens: 1, messages: Q }],
    ['/v1/responses', { max_output_tokens: 1, input: 'Hi' }],
  ] as const) {
    it(`the same on ${path}`, async (t) => {
      const proxied = await openProxy(t, (await doublingEngine.server()).url, strict);
      const answer = await send(proxied.url + path, body);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.said, { action: 'pass', findings: 'double-bos;template', inspection: 'ok' });
    });
  }

  it('unless the operator blocks it always', async (t) => {
    const settings = { MODE: 'strict', DETECTORS_DOUBLE_BOS_REJECT_WHEN: 'always' };
    const { gated, proxied } = await openGated(t, (await doublingEngine.server()).url, settings);
    const answer = await chat(proxied, { messages: Q });
    assert.equal(answer.status, 400);
    assert.equal((answer.json['error'] as Problem).code, 'double_bos');
    assert.equal(gated.count('/v1/chat/completions'), 0);
  });

  it('in observe mode', async (t) => {
    const proxied = await openProxy(t, (await gemma3.server()).url);
    const answer = await complete(proxied, { prompt: `<bos>${turn}` });
    assert.equal(answer.status, 200);
    assert.equal(answer.said.action, 'pass');
  });

  it('whom the operator exempts, by client, route or model', async (t) => {
    const batch = { 'x-team': 'batch' };
    const proxied = await openProxy(t, (await gemma3.server()).url, {
      ...strict,
      CLIENTS: JSON.stringify({ batch: { header: { name: 'X-Team', value: 'batch' } } }),
      INSPECTION_EXEMPT: JSON.stringify([{ client: 'batch' }]),
    });
    const exempt = { action: 'pass', findings: null, inspection: 'unknown;exempt' };
    assert.deepEqual((await complete(proxied, { prompt: `<bos>${turn}` }, batch)).said, exempt);
    assert.equal((await complete(proxied, { prompt: `<bos>${turn}` }, { 'x-team': 'other' })).status, 400);
    assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', { reason: 'exempt' }), 1);
    for (const entry of [{ route: 'completion' }, { model: 'gemma3' }]) {
      const settings = { ...strict, INSPECTION_EXEMPT: JSON.stringify([entry]) };
      const other = await openProxy(t, (await gemma3.server()).url, settings);
      assert.deepEqual((await complete(other, { prompt: `<bos>${turn}` })).said, exempt);
    }
  });
});
