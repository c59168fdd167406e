// A router with several models: each has facts of its own, and no question of ours loads one or wakes one.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { withBos, withoutBos } from '../support/byte-models.ts';
import { chat, clean, complete, eventually, send, settled } from '../support/exchanges.ts';
import { startLlamaServer, type LlamaServer } from '../support/llama-server/server.ts';
import { openGated } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const { skip } = await realEngine(withBos.file);

let models: string | undefined;
const stops: (() => Promise<void>)[] = [];
after(async () => {
  for (const stop of stops) await stop();
  if (models !== undefined) await rm(models, { recursive: true });
});

async function startRouter(...more: readonly string[]): Promise<LlamaServer> {
  models ??= await mkdtemp(join(tmpdir(), 'tokenweir-models-'));
  await copyFile(await withBos.file(), join(models, 'with-bos.gguf'));
  await copyFile(await withoutBos.file(), join(models, 'without-bos.gguf'));
  const router = await startLlamaServer({ args: ['--models-dir', models, ...more] });
  stops.push(() => router.stop());
  return router;
}

async function statusOf(router: LlamaServer, model: string): Promise<unknown> {
  const list = (await (await fetch(`${router.url}/models`)).json()) as {
    data: { id: string; status: { value: string } }[];
  };
  return list.data.find(({ id }) => id === model)?.status.value;
}

const hi = { messages: [{ role: 'user', content: 'Hi' }] };

describe('a router', { skip }, () => {
  it('is asked nothing that loads a model; each model has its own facts', async (t) => {
    const router = await startRouter();
    const { gated, proxied } = await openGated(t, router.url);
    const gate = gated.hold('/v1/chat/completions');
    const answering = chat(proxied, { ...hi, model: 'with-bos' });
    await gate.reached;
    assert.equal(await statusOf(router, 'with-bos'), 'unloaded');
    gate.open();
    const first = await answering;
    assert.equal(first.status, 200);
    assert.equal(first.said.inspection, 'unknown;model-not-loaded');

    assert.deepEqual((await chat(proxied, { ...hi, model: 'with-bos' })).said, clean);
    // The other model is not touched by that.
    assert.equal(await statusOf(router, 'without-bos'), 'unloaded');
    assert.equal(
      (await chat(proxied, { ...hi, model: 'without-bos' })).said.inspection,
      'unknown;model-not-loaded',
    );
    assert.deepEqual((await chat(proxied, { ...hi, model: 'without-bos' })).said, clean);

    const doubled = await complete(proxied, { prompt: `<s>${withBos.turn}`, model: 'with-bos' });
    assert.equal(doubled.said.findings, 'double-bos;literal');
    const single = await complete(proxied, { prompt: `<s>${withoutBos.turn}`, model: 'without-bos' });
    assert.deepEqual(single.said, clean);

    await settled(proxied, 6);
    for (const model_name of ['with-bos', 'without-bos']) {
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { model_name, result: 'match' }), 2);
    }
    assert.equal(
      await proxied.metric('tokenweir_findings_total', { model_name: 'with-bos', kind: 'double-bos' }),
      1,
    );
    assert.equal(
      await proxied.metric('tokenweir_model_info', { model_name: 'with-bos', adds_bos: 'true' }),
      1,
    );
    assert.equal(
      await proxied.metric('tokenweir_model_info', { model_name: 'without-bos', adds_bos: 'false' }),
      1,
    );
    const aboutModels = gated.seen.filter(
      ({ path, target }) => /^\/(tokenize|apply-template)$/.test(path) || target.startsWith('/props?model='),
    );
    assert.ok(aboutModels.length > 0);
    for (const { target } of aboutModels) assert.match(target, /[?&]autoload=false$/);
  });

  it('answers for models that it does not have, and for requests that name none', async (t) => {
    const router = await startRouter();
    const { proxied } = await openGated(t, router.url);
    const bodies = {
      '/v1/chat/completions': hi,
      '/v1/messages': { ...hi, max_tokens: 1 },
      '/v1/responses': { input: 'Hi' },
    };
    const requests = Object.entries(bodies).flatMap(([path, body]) => [
      { path, body: { ...body, model: 'nope' } },
      { path, body },
    ]);
    for (const { path, body } of requests) {
      const direct = await send(router.url + path, body);
      const answer = await send(proxied.url + path, body);
      assert.equal(answer.status, 400);
      assert.equal(answer.text, direct.text);
      assert.equal(answer.said.inspection, 'unknown;model-not-loaded');
    }
  });

  it('unloads a model: it is not loaded again by us', async (t) => {
    const router = await startRouter();
    const { gated, proxied } = await openGated(t, router.url);
    await chat(router, { ...hi, model: 'with-bos' });
    assert.deepEqual((await chat(proxied, { ...hi, model: 'with-bos' })).said, clean);
    await fetch(`${router.url}/models/unload`, { method: 'POST', body: '{"model":"with-bos"}' });
    await router.waitForLog(/instance name=with-bos exited/);
    const gate = gated.hold('/v1/chat/completions');
    const answering = chat(proxied, { ...hi, model: 'with-bos' });
    await gate.reached;
    assert.equal(await statusOf(router, 'with-bos'), 'unloaded');
    gate.open();
    const answer = await answering;
    assert.equal(answer.status, 200);
    assert.equal(answer.said.inspection, 'unknown;model-not-loaded');
    // A new process for the model: learnt anew, ids of the old one are not used.
    assert.deepEqual((await chat(proxied, { ...hi, model: 'with-bos' })).said, clean);
    await settled(proxied, 3);
    assert.equal(await proxied.metric('tokenweir_facts_changes_total', { what: 'restart' }), 1);
  });

  it('has a model that sleeps: it is not woken by us, and that its cache is lost is told', async (t) => {
    const router = await startRouter('--sleep-idle-seconds', '2');
    const { gated, proxied } = await openGated(t, router.url, { MODE: 'strict' });
    await chat(router, { ...hi, model: 'with-bos' });
    assert.deepEqual((await chat(proxied, { ...hi, model: 'with-bos' })).said, clean);
    const asleep = async (from: number): Promise<void> => {
      await router.waitForLog(/entering sleeping state/, { from });
      await eventually(async () => (await statusOf(router, 'with-bos')) === 'sleeping', 'asleep');
    };
    await asleep(0);
    const from = router.log().length;
    const gate = gated.hold('/v1/chat/completions');
    const answering = chat(proxied, { ...hi, model: 'with-bos' });
    await gate.reached;
    assert.equal(await statusOf(router, 'with-bos'), 'sleeping');
    gate.open();
    const answer = await answering;
    assert.deepEqual([answer.status, answer.said.inspection], [200, 'unknown;engine-sleeping']);
    assert.deepEqual((await chat(proxied, { ...hi, model: 'with-bos' })).said, clean);

    await asleep(from);
    // What was learnt before still tells a doubled BOS from one.
    const doubled = await complete(proxied, { prompt: `<s>${withBos.turn}`, model: 'with-bos' });
    assert.equal(doubled.status, 400);
    assert.equal(await statusOf(router, 'with-bos'), 'sleeping');
    assert.equal(await proxied.metric('tokenweir_facts_changes_total'), 0);
    const told = proxied.lines.filter(({ event }) => event === 'engine-cache-lost');
    assert.deepEqual(
      told.map(({ model, reason }) => [model, reason]),
      [
        ['with-bos', 'sleep'],
        ['with-bos', 'sleep'],
      ],
    );
  });
});
