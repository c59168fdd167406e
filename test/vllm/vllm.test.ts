// Proves the test support itself: a vLLM without a GPU, behind the models that we write, gives the ids and counts of the
// models they stand for. What it says is what the adapter may rely on.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getWeather, Q } from '../support/conversations.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { chat, completion, idsOf, metric, tokenize, until } from './asking.ts';

const qwen3 = await realVllm('qwen3', { args: ['--enable-prompt-tokens-details'] });

describe('Qwen3 on a real vLLM', { skip: qwen3.skip }, () => {
  it('has the ids of the real vocabulary and template', async () => {
    const { url } = await qwen3.server();
    const { prompt_token_ids: ids, usage } = await chat(url, { messages: Q });
    assert.equal(ids.length, 25);
    assert.deepEqual(ids.slice(0, 9), [151644, 8948, 198, 2610, 525, 50537, 13, 151645, 198]);
    assert.equal(usage.prompt_tokens, 25);
    assert.deepEqual(await tokenize(url, { messages: Q }), ids);
  });

  it('renders a tool, without the fields that the protocol does not know', async () => {
    const { url } = await qwen3.server();
    const returning = { ...getWeather, function: { ...getWeather.function, return: { type: 'string' } } };
    for (const tool of [getWeather, returning]) {
      const body = { messages: Q, tools: [tool] };
      const { prompt_token_ids: ids } = await chat(url, { ...body, tool_choice: 'none' });
      assert.equal(ids.length, 168);
      assert.deepEqual(await tokenize(url, body), ids);
    }
  });

  it('ends the prompt with an empty think block where thinking is off', async () => {
    const { url } = await qwen3.server();
    const off = { chat_template_kwargs: { enable_thinking: false } };
    const { prompt_token_ids: ids } = await chat(url, { messages: Q, ...off });
    assert.deepEqual(ids.slice(25), [151667, 271, 151668, 271]);
  });

  it('adds no BOS', async () => {
    const { url } = await qwen3.server();
    assert.deepEqual(await tokenize(url, { prompt: '' }), []);
    assert.deepEqual(await idsOf(url, { prompt: 'One, two' }), [3966, 11, 1378]);
  });

  it('caches whole blocks, and counts them alike in the reply and in its metrics', async () => {
    const { url } = await qwen3.server();
    const prompt = Array.from({ length: 100 }, (_, index) => 1_000 + index);
    const before = await metric(url, 'vllm:prefix_cache_hits_total');
    await completion(url, { prompt });
    const { usage } = await completion(url, { prompt });
    assert.equal(usage.prompt_tokens_details?.cached_tokens, 96);
    await until(async () => (await metric(url, 'vllm:prefix_cache_hits_total')) === before + 96);
    assert.equal(
      (await completion(url, { prompt, cache_salt: 'salt' })).usage.prompt_tokens_details?.cached_tokens,
      0,
    );
    // The last id is always computed anew, and its block with it.
    assert.equal(
      (await completion(url, { prompt: prompt.slice(0, 96) })).usage.prompt_tokens_details?.cached_tokens,
      64,
    );
  });

  it('stops generating for a client that leaves', async () => {
    const { url } = await qwen3.server();
    const leave = new AbortController();
    const before = await metric(url, 'vllm:generation_tokens_total');
    const body = { prompt: 'One', max_tokens: 30_000, ignore_eos: true, stream: true };
    const reply = await fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leave.signal,
    });
    await reply.body!.getReader().read();
    leave.abort();
    await until(async () => (await metric(url, 'vllm:num_requests_running')) === 0);
    assert.ok((await metric(url, 'vllm:generation_tokens_total')) < before + 30_000);
  });

  it('answers nothing while it is paused', async () => {
    const server = await qwen3.server();
    await server.pause();
    const asked = fetch(`${server.url}/health`, { signal: AbortSignal.timeout(500) });
    await assert.rejects(asked, { name: 'TimeoutError' });
    server.resume();
    assert.equal((await fetch(`${server.url}/health`)).status, 200);
  });
});
