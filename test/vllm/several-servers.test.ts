// Several real processes behind one address: a vLLM with two API processes, and two vLLMs behind one port.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Q, S } from '../support/conversations.ts';
import { chat, clean, eventually, send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { routerTo } from '../support/vllm/router.ts';

const args = ['--enable-prompt-tokens-details'];
const twoProcesses = await realVllm('llama3.1', { args: [...args, '--api-server-count', '2'] });
const qwen3 = await realVllm('qwen3', { args });
const { skip } = qwen3;

/** Over all series: each API process may have its own. */
async function sum(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const series = [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'gm'))];
  assert.notEqual(series.length, 0, name);
  return series.reduce((total, [, value]) => total + Number(value), 0);
}

describe('a real vLLM with two API processes', { skip }, () => {
  it('is one engine: ids, counts, and its counters beside ours', async (t) => {
    const { url } = await twoProcesses.server();
    const own = await openProxy(t, url);
    const counters = ['prompt_tokens_total', 'prefix_cache_hits_total'].map((name) => `vllm:${name}`);
    const theirs = () => Promise.all(counters.map((name) => sum(url, name)));
    const before = await theirs();
    const long = { role: 'system', content: 'You are terse. '.repeat(30) };
    const turns = [...S, ...S].map((messages) => [long, ...messages.slice(1)]);
    for (const messages of turns) assert.deepEqual((await chat(own, { messages })).said, clean);
    await settled(own, turns.length);
    assert.equal(await own.metric('tokenweir_count_checks_total', { result: 'match' }), turns.length);
    const ours = await Promise.all(
      ['', 'cached_'].map((name) => own.metric(`tokenweir_prompt_tokens_${name}total`)),
    );
    assert.ok((ours[1] ?? 0) > 0);
    let moved: number[] = [];
    await eventually(async () => {
      moved = (await theirs()).map((value, index) => value - (before[index] ?? 0));
      return (moved[0] ?? 0) >= (ours[0] ?? 0);
    }, 'the engine shows every request');
    assert.deepEqual(moved, ours);
    assert.deepEqual(
      own.lines.filter(({ event }) => event === 'engine-cache-lost'),
      [],
    );
    assert.equal(own.lines.filter(({ event }) => event === 'facts-learnt').length, 1);
  });
});

describe('two real vLLMs behind one port', { skip }, () => {
  it('have facts and ids of their own, by the name of the model, and counts as we count', async (t) => {
    const router = await routerTo({
      qwen3: (await qwen3.server()).url,
      'llama3.1': (await twoProcesses.server()).url,
    });
    t.after(() => router.close());
    const own = await openProxy(t, router.url);
    const models = ['qwen3', 'llama3.1', 'qwen3', 'llama3.1'];
    for (const model of models) {
      assert.deepEqual((await chat(own, { model, messages: Q })).said, clean, model);
      const text = {
        model,
        prompt: model === 'qwen3' ? 'One, two' : '<|begin_of_text|>One, two',
        max_tokens: 1,
      };
      const { said } = await send(`${own.url}/v1/completions`, text);
      // Llama 3.1's own tokenizer adds BOS to texts, so one that is written is doubled; Qwen3 has none.
      assert.equal(said.findings?.includes('double-bos') ?? false, model === 'llama3.1', model);
    }
    await settled(own, 2 * models.length);
    for (const model_name of ['qwen3', 'llama3.1']) {
      assert.equal(await own.metric('tokenweir_count_checks_total', { model_name, result: 'match' }), 4);
      assert.equal(
        own.lines.filter(({ event, model }) => event === 'facts-learnt' && model === model_name).length,
        1,
      );
    }
    const nobody = await chat(own, { model: 'nope', messages: Q });
    assert.deepEqual([nobody.status, nobody.said.inspection], [404, 'unknown;model-not-loaded']);
  });
});
