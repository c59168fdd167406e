// An engine that loads, sleeps, restarts as another, dies: traffic gets what the engine gives, and what can't be known
// is said with its reason. No question of ours wakes or loads anything.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { withBos, withoutBos } from '../support/byte-models.ts';
import { chat, clean, complete, eventually, learnt, send, settled } from '../support/exchanges.ts';
import { modelFile } from '../support/gguf/families.ts';
import { freePort, startLlamaServer, type LlamaServer } from '../support/llama-server/server.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const { skip } = await realEngine(withBos.file);

async function start(t: TestContext, options: Parameters<typeof startLlamaServer>[0]): Promise<LlamaServer> {
  const server = await startLlamaServer(options);
  t.after(() => server.stop());
  return server;
}

const hi = { messages: [{ role: 'user', content: 'Hi' }] };
const doubled = { prompt: `<s>${withBos.turn}` };

describe('an engine that is not there', { skip }, () => {
  it('is a 502 without its address, and is known once it has come', async (t) => {
    const port = await freePort();
    const proxied = await openProxy(t, `http://127.0.0.1:${port}`);
    const answer = await chat(proxied, hi);
    assert.equal(answer.status, 502);
    assert.equal(answer.said.inspection, 'unknown;engine-unreachable');
    assert.doesNotMatch(answer.text, new RegExp(`127\\.0\\.0\\.1|${port}`));
    await start(t, { model: await withBos.file(), port });
    assert.deepEqual((await chat(proxied, hi)).said, clean);
    await settled(proxied, 2);
    assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'upstream-failed' }), 1);
  });

  it('is still loading: its 503 passes', async (t) => {
    const port = await freePort();
    const starting = start(t, { model: await modelFile('gemma3'), port });
    await eventually(async () => {
      const health = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
      return health?.status === 503;
    }, 'the engine loads');
    const proxied = await openProxy(t, `http://127.0.0.1:${port}`);
    const answer = await chat(proxied, hi);
    assert.equal(answer.status, 503);
    assert.equal(answer.text, '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}');
    assert.equal(answer.said.inspection, 'unknown;engine-loading');
    await starting;
    assert.deepEqual((await chat(proxied, hi)).said, clean);
  });

  it('is not asked any more after five failures, and again as soon as it answers', async (t) => {
    const port = await freePort();
    const first = await start(t, { model: await withBos.file(), port });
    const proxied = await openProxy(t, first.url);
    await learnt(proxied);
    await first.kill();
    const events = (): unknown[] => proxied.lines.map(({ event }) => event);
    for (let count = 0; !events().includes('oracle-unavailable'); count += 1) {
      assert.ok(count < 6, 'the breaker should be open by now');
      assert.equal((await chat(proxied, hi)).said.inspection, 'unknown;engine-unreachable');
    }
    const asked = await proxied.metric('tokenweir_oracle_requests_total', { result: 'unreachable' });
    assert.equal((await chat(proxied, hi)).said.inspection, 'unknown;engine-unreachable');
    assert.equal(await proxied.metric('tokenweir_oracle_requests_total', { result: 'unreachable' }), asked);
    assert.ok((await proxied.metric('tokenweir_oracle_requests_total', { result: 'breaker-open' })) > 0);
    assert.equal(await proxied.metric('tokenweir_upstream_up'), 0);

    await start(t, { model: await withBos.file(), port });
    // Forwarded, whether it could be inspected or not; its reply shows that the engine is back.
    assert.equal((await chat(proxied, hi)).status, 200);
    assert.deepEqual((await chat(proxied, hi)).said, clean);
    assert.ok(events().includes('oracle-available'));
    assert.equal(await proxied.metric('tokenweir_upstream_up'), 1);
  });
});

describe('an engine that restarts as another', { skip }, () => {
  for (const [how, visit] of [
    ['with a request in between', true],
    ['unseen', false],
  ] as const) {
    it(`is learnt anew, ${how}`, async (t) => {
      const first = await start(t, { model: await withBos.file() });
      const proxied = await openProxy(t, first.url);
      assert.equal((await complete(proxied, doubled)).said.findings, 'double-bos;literal');
      await first.kill();
      if (visit) assert.equal((await complete(proxied, doubled)).status, 502);
      await start(t, { model: await withoutBos.file(), port: first.port });
      // To this model the same text is no BOS at all.
      const answer = await complete(proxied, { prompt: `${withoutBos.turn}<s>` });
      assert.deepEqual(answer.said, clean);
      const chatted = await chat(proxied, hi);
      assert.deepEqual(chatted.said, clean);
      await settled(proxied, visit ? 4 : 3);
      assert.equal(
        await proxied.metric('tokenweir_count_checks_total', { model_name: 'without-bos', result: 'match' }),
        2,
      );
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'mismatch' }), 0);
      for (const what of ['restart', 'template', 'bos']) {
        assert.equal(await proxied.metric('tokenweir_facts_changes_total', { what }), 1, what);
      }
      assert.equal(
        await proxied.metric('tokenweir_model_info', { model_name: 'without-bos', adds_bos: 'false' }),
        1,
      );
    });
  }

  it('dies in the middle of a stream: the client sees it end, not finish', async (t) => {
    const server = await start(t, { model: await withBos.file() });
    const proxied = await openProxy(t, server.url);
    await learnt(proxied);
    const reply = await fetch(`${proxied.url}/completion`, {
      method: 'POST',
      body: JSON.stringify({ prompt: withBos.turn, n_predict: -1, ignore_eos: true, stream: true }),
    });
    const reader = reply.body?.getReader();
    await reader?.read();
    await server.kill();
    await assert.rejects(async () => {
      while ((await reader?.read())?.done === false);
    });
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'upstream-failed' }), 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total'), 0);
  });
});

describe('an engine that sleeps', { skip }, () => {
  it('is not woken by our questions, but by the request', async (t) => {
    const server = await start(t, { model: await withBos.file(), args: ['--sleep-idle-seconds', '1'] });
    const { gated, proxied } = await openGated(t, server.url, { MODE: 'strict' });
    assert.deepEqual((await chat(proxied, hi)).said, clean);
    const asleep = async (): Promise<number> =>
      (await server.waitForLog(/server is entering sleeping state/, { from: slept })).index + slept + 1;
    let slept = 0;
    slept = await asleep();
    const gate = gated.hold('/v1/chat/completions');
    const answering = chat(proxied, hi);
    await gate.reached;
    assert.doesNotMatch(server.log().slice(slept), /exiting sleeping state/);
    gate.open();
    const answer = await answering;
    assert.equal(answer.status, 200);
    assert.equal(answer.said.inspection, 'unknown;engine-sleeping');
    assert.match(server.log().slice(slept), /exiting sleeping state/);
    assert.deepEqual((await chat(proxied, hi)).said, clean);

    slept = await asleep();
    // What was learnt before still tells a doubled BOS from one.
    assert.equal((await complete(proxied, doubled)).status, 400);
    assert.doesNotMatch(server.log().slice(slept), /exiting sleeping state/);
    assert.equal(await proxied.metric('tokenweir_facts_changes_total'), 0);
  });
});

describe('an engine with an API key', { skip }, () => {
  const key = 'K1';
  const bearer = { authorization: `Bearer ${key}` };

  it("is asked with the client's own key", async (t) => {
    const server = await start(t, { model: await withBos.file(), args: ['--api-key', key] });
    const { gated, proxied } = await openGated(t, server.url);
    assert.deepEqual((await chat(proxied, hi, bearer)).said, clean);
    assert.deepEqual((await chat(proxied, hi, { 'x-api-key': key })).said, clean);
    const asked = gated.seen.filter(({ path }) => path === '/apply-template');
    assert.deepEqual(
      [asked.at(-2)?.headers['authorization'], asked.at(-1)?.headers['x-api-key']],
      [bearer.authorization, key],
    );

    const wrong = await chat(proxied, hi, { authorization: 'Bearer wrong' });
    assert.equal(wrong.status, 401);
    assert.equal(wrong.text, (await chat(server, hi, { authorization: 'Bearer wrong' })).text);
    assert.equal(wrong.said.inspection, 'unknown;oracle-refused');
    // A stranger's refusal is no news about the engine.
    assert.deepEqual((await chat(proxied, hi, bearer)).said, clean);
  });

  it("is asked with the operator's key where the client sends none, and the request stays as it is", async (t) => {
    const server = await start(t, { model: await withBos.file(), args: ['--api-key', key] });
    const { gated, proxied } = await openGated(t, server.url, { UPSTREAM_API_KEY: key });
    await learnt(proxied);
    const answer = await chat(proxied, hi);
    assert.equal(answer.status, 401);
    assert.equal(answer.said.inspection, 'ok');
    const forwarded = gated.seen.find(({ path }) => path === '/v1/chat/completions');
    assert.equal(forwarded?.headers['authorization'], undefined);
    const withWrong = await chat(proxied, hi, { authorization: 'Bearer wrong' });
    assert.equal(withWrong.status, 401);
    assert.equal(withWrong.said.inspection, 'unknown;oracle-refused');
  });

  it('is asked anew by each client while another is refused', async (t) => {
    const server = await start(t, { model: await withBos.file(), args: ['--api-key', key] });
    const { gated, proxied } = await openGated(t, server.url);
    const gate = gated.hold('/props');
    const stranger = send(`${proxied.url}/v1/chat/completions`, hi, {
      headers: { authorization: 'Bearer wrong' },
    });
    await gate.reached;
    const friend = chat(proxied, hi, bearer);
    gate.open();
    assert.equal((await stranger).status, 401);
    assert.deepEqual((await friend).said, clean);
  });
});
