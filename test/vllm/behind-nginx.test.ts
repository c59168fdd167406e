// A real vLLM behind a real nginx, as operators put one there: what it hands on, what it answers itself, and what the
// client gets when the engine behind it goes away.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Q } from '../support/conversations.ts';
import { chat, clean, eventually, send, settled } from '../support/exchanges.ts';
import { findNginx, startNginx } from '../support/nginx.ts';
import { openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';

const qwen3 = await realVllm('qwen3', { args: ['--enable-prompt-tokens-details', '--enable-scale-out'] });
const nginx = await findNginx();
const skip = qwen3.skip || ('missing' in nginx ? `no nginx: ${nginx.missing}` : false);

async function behind(t: TestContext, locations = ''): Promise<string> {
  assert.ok('command' in nginx);
  const gateway = await startNginx(nginx.command, (await qwen3.server()).url, locations);
  t.after(() => gateway.stop());
  return gateway.url;
}

async function proxied(
  t: TestContext,
  locations: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ProxiedEngine> {
  return openProxy(t, await behind(t, locations), settings);
}

const page = 'default_type text/html; return 200 "<html><body>Welcome</body></html>";';

describe('a real vLLM behind a real nginx', { skip }, () => {
  it('is known as it is without, from `serve`, and its streams arrive whole', async (t) => {
    const url = await behind(t);
    const served = await new ServeProcess(t, { flags: ['--upstream', url] }).serving();
    // The first questions find that the facts are still being learnt.
    await eventually(
      async () => (await chat(served, { messages: Q })).said.inspection === 'ok',
      'inspected in time',
    );
    const body = { messages: Q, stream: true, stream_options: { include_usage: true }, ignore_eos: true };
    const { text } = await send(`${served.url}/v1/chat/completions`, { max_tokens: 40, ...body });
    assert.match(text, /"prompt_tokens":25,"total_tokens":65,"completion_tokens":40/);
    assert.match(text, /data: \[DONE\]\n\n$/);
    const metrics = await (await fetch(`${served.adminUrl}/metrics`)).text();
    assert.match(metrics, /^tokenweir_count_checks_total\{.*result="mismatch".*\} 0$/m);
  });

  const partly: Record<string, string> = {
    'no version, no metrics and no rendering': 'location ~ ^/(version|metrics|.*/render)$ { return 404; }',
    'a refusal for those': 'location ~ ^/(version|metrics|tokenizer_info|.*/render)$ { return 403; }',
    'a page for those': `location ~ ^/(version|metrics|tokenizer_info|.*/render)$ { ${page} }`,
  };
  for (const [name, locations] of Object.entries(partly)) {
    it(`has ids and counts where the gateway has ${name}`, async (t) => {
      const own = await proxied(t, locations);
      assert.deepEqual((await chat(own, { messages: Q })).said, clean);
      await settled(own, 1);
      assert.equal(await own.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
    });
  }

  const missing: Record<string, { readonly locations: string; readonly reason: string }> = {
    'no /tokenize': { locations: 'location = /tokenize { return 404; }', reason: 'engine-cannot' },
    'a page for /tokenize': { locations: `location = /tokenize { ${page} }`, reason: 'oracle-error' },
    'no /detokenize': { locations: 'location = /detokenize { return 404; }', reason: 'engine-cannot' },
    'no /v1/models': { locations: 'location = /v1/models { return 404; }', reason: 'engine-cannot' },
    'a page for /v1/models': { locations: `location = /v1/models { ${page} }`, reason: 'oracle-error' },
    'a key before /tokenize': { locations: 'location = /tokenize { return 401; }', reason: 'oracle-refused' },
  };
  for (const [name, { locations, reason }] of Object.entries(missing)) {
    it(`answers as ever where the gateway has ${name}, and nothing is known`, async (t) => {
      const own = await proxied(t, locations, { ENGINE_KIND: 'vllm' });
      for (let turn = 0; turn < 2; turn += 1) {
        const { status, said, json } = await chat(own, { messages: Q });
        assert.deepEqual([status, said.inspection], [200, `unknown;${reason}`]);
        assert.equal((json['usage'] as { prompt_tokens: number }).prompt_tokens, 25);
      }
    });
  }

  it('hands on its refusals in its own words', async (t) => {
    const own = await proxied(t, '');
    const unknown = await chat(own, { model: 'nope', messages: Q });
    assert.equal(unknown.status, 404);
    assert.match(unknown.text, /The model `nope` does not exist/);
    assert.equal(unknown.said.inspection, 'unknown;model-not-loaded');
    const wrong = await chat(own, { messages: 'none' });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /validation errors?:/);
  });

  it('is cut off where it dies in mid-answer, and then nginx says so', async (t) => {
    const own = await proxied(t, '');
    assert.deepEqual((await chat(own, { messages: Q })).said, clean);
    const reply = await fetch(`${own.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: Q, stream: true, ignore_eos: true, max_tokens: 20_000 }),
    });
    const reader = reply.body!.getReader();
    await reader.read();
    await (await qwen3.server()).kill();
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    });
    await settled(own, 2);
    assert.equal(await own.metric('tokenweir_replies_total', { outcome: 'upstream-failed' }), 1);
    const { status, text, said } = await chat(own, { messages: Q });
    assert.deepEqual([status, said.action], [502, 'pass']);
    assert.match(text, /<center>nginx/);
  });
});
