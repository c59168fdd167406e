// Gateways as operators put before a vLLM, over the stand-in: one port for two engines, and what the product says of replies
// that can't be compared.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { VllmEngine } from '../../../src/engines/vllm.ts';
import { Q } from '../../support/conversations.ts';
import { chat, settled } from '../../support/exchanges.ts';
import type { Family } from '../../support/gguf/families.ts';
import { openProxy } from '../../support/open-proxy.ts';
import { routerTo } from '../../support/vllm/router.ts';
import { standIn, type StandIn } from '../../support/vllm/stand-in.ts';
import { recording } from '../../vllm/recordings/recording.ts';
import { context, idsOf, openAdapter, typed } from '../engine-under-test.ts';

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function engineOf(family: Family): Promise<StandIn> {
  const server = await standIn(family, { without: ['/tokenizer_info'] });
  closers.push(() => server.close());
  return server;
}

describe('two vLLMs behind one port', () => {
  it('have facts and ids of their own, by the name of the model', async () => {
    const router = await routerTo({
      qwen3: (await engineOf('qwen3')).url,
      'llama3.1': (await engineOf('llama3.1')).url,
    });
    closers.unshift(() => router.close());
    const { engine } = openAdapter(router.url, { adapter: VllmEngine, timeoutMs: 60_000 });
    closers.unshift(() => engine.close());
    const prompt = 'One, two';
    const idsIn = (model: string) => idsOf(engine, typed('completion', { model, prompt }));
    assert.deepEqual(await idsIn('qwen3'), [3966, 11, 1378]);
    assert.deepEqual((await idsIn('llama3.1'))[0], 128_000);
    assert.deepEqual(await idsIn('qwen3'), [3966, 11, 1378]);
    const facts = await Promise.all(['qwen3', 'llama3.1'].map((model) => engine.facts(model, context)));
    assert.deepEqual(
      facts.map((read) => read.known && [read.facts.modelName, read.facts.bos?.id]),
      [
        ['qwen3', undefined],
        ['llama3.1', 128_000],
      ],
    );
  });
});

describe('a cache salt on a vLLM', () => {
  it('keeps remembered segments apart', async () => {
    const { engine, counted } = openAdapter((await engineOf('qwen3')).url, {
      adapter: VllmEngine,
      timeoutMs: 60_000,
    });
    closers.unshift(() => engine.close());
    const ids = (salt?: string) =>
      idsOf(
        engine,
        typed('completion', { prompt: 'One, two', ...(salt !== undefined && { cache_salt: salt }) }),
      );
    const asked = async (salt?: string): Promise<number> => {
      const before = counted.engine;
      assert.deepEqual(await ids(salt), [3966, 11, 1378]);
      return counted.engine - before;
    };
    assert.deepEqual([await asked(), await asked(), await asked('a'), await asked('a')], [3, 0, 3, 0]);
    assert.equal(await asked('b'), 3);
  });
});

describe('a chat with an image on a vLLM that will not be asked about it', () => {
  it('has unknown ids, and whatever the engine counts is no mismatch', async (t) => {
    const server = await standIn('qwen3', {
      without: ['/tokenizer_info'],
      // As a multimodal model would answer: with a count that holds the image.
      intercept: (path) =>
        path === '/v1/chat/completions'
          ? {
              status: 200,
              text: recording('qwen3', 'chat').text.replace(/"prompt_tokens":\d+/, '"prompt_tokens":999'),
            }
          : undefined,
    });
    closers.push(() => server.close());
    const proxied = await openProxy(t, server.url, { ENGINE_KIND: 'vllm' });
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] }];
    for (let turn = 0; turn < 3; turn += 1) {
      const { status, said } = await chat(proxied, { messages });
      assert.deepEqual([status, said.inspection, said.findings], [200, 'unknown;oracle-refused', null]);
    }
    await settled(proxied, 3);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'mismatch' }), 0);
    assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', { reason: 'oracle-refused' }), 3);
    // The same count of a chat without the image is one.
    await chat(proxied, { messages: Q });
    await settled(proxied, 4);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'mismatch' }), 1);
  });
});
