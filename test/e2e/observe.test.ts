// What the inspection can't read passes as it came: the client gets what the engine says of it, and it is counted why.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chat, send, settled } from '../support/exchanges.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { lasting } from '../support/lasting-reply.ts';
import { chatRoute, native, oddBodies } from '../support/odd-bodies.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(() =>
  byteModelFile({
    name: 'odd-bodies',
    markers: ['<s>', '<|user|>', '<|assistant|>', '<|end|>'],
    bos: '<s>',
    addBos: true,
    chatTemplate:
      '{{ bos_token }}{% for m in messages %}{{ "<|" + m.role + "|>" + m.content + "<|end|>" }}{% endfor %}' +
      '{{ "<|assistant|>" }}',
  }),
);
const { skip } = engine;

async function serve(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<ProxiedEngine> {
  return openProxy(t, (await engine.server()).url, settings);
}

describe('a body that can not be read', { skip }, () => {
  for (const [name, { path, body, status, inspection = 'unknown;unreadable-body' }] of Object.entries(
    oddBodies,
  )) {
    it(`passes with ${name}, and is counted`, async (t) => {
      const proxied = await serve(t, { MODE: 'strict' });
      const direct = await send((await engine.server()).url + path, body);
      const answer = await send(proxied.url + path, body);
      assert.equal(direct.status, status);
      assert.deepEqual(lasting(answer), lasting(direct));
      assert.equal(answer.headers.get('content-type'), direct.headers.get('content-type'));
      assert.deepEqual(answer.said, { action: 'pass', findings: null, inspection });
      await settled(proxied, 1);
      assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'completed' }), 1);
      const [result = '', reason] = inspection.split(';');
      assert.equal(await proxied.metric('tokenweir_inspections_total', { result }), 1);
      if (reason !== undefined) {
        assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', { reason }), 1);
      }
    });
  }

  for (const type of ['application/x-odd', 'text/plain; charset=latin1', ';;;/', 'a'.repeat(2000), '']) {
    it(`is read for what it is under the content type "${type.slice(0, 30)}"`, async (t) => {
      const proxied = await serve(t);
      const body = Buffer.from('{"prompt":"a","n_predict":1,"temperature":0,"seed":1}');
      const headers = { 'content-type': type };
      const direct = await send(`${(await engine.server()).url}${native}`, body, { headers });
      const answer = await send(`${proxied.url}${native}`, body, { headers });
      assert.equal(direct.status, 200);
      assert.deepEqual(lasting(answer), lasting(direct));
      assert.equal(answer.said.inspection, 'ok');
    });
  }

  it('passes compressed', async (t) => {
    const proxied = await serve(t);
    const body = gzipSync('{"prompt":"a"}');
    const headers = { 'content-encoding': 'gzip' };
    const direct = await send(`${(await engine.server()).url}${native}`, body, { headers });
    const answer = await send(`${proxied.url}${native}`, body, { headers });
    assert.equal(direct.status, 415);
    assert.deepEqual(lasting(answer), lasting(direct));
    assert.equal(answer.said.inspection, 'unknown;compressed-body');
    assert.equal(
      await proxied.metric('tokenweir_inspection_unknown_total', { reason: 'compressed-body' }),
      1,
    );
  });
});

describe('a chat with an image', { skip }, () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] }];

  it("gets the engine's own refusal where it can't see", async (t) => {
    const proxied = await serve(t);
    const direct = await chat(await engine.server(), { messages });
    const answer = await chat(proxied, { messages });
    assert.equal(direct.status, 500);
    assert.deepEqual(lasting(answer), lasting(direct));
  });

  it('has no count to compare: the engine counts positions of the image, too', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url);
    gated.answer(chatRoute, {
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A cat.' } }],
      usage: { prompt_tokens: 300, completion_tokens: 3, total_tokens: 303 },
    });
    gated.answer('/apply-template', { prompt: '<s><|user|>What is this?<|end|><|assistant|>' });
    assert.equal((await chat(proxied, { messages })).status, 200);
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'absent' }), 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total'), 1);
    assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'count-mismatch' }), 0);
  });

  it('adds to no sum of tokens, said twice either: how many the image takes is not known', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url);
    gated.answer(chatRoute, {
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A cat.' } }],
    });
    gated.answer('/apply-template', { prompt: '<s><|user|>What is this?<|end|><|assistant|>' });
    assert.equal((await chat(proxied, { messages })).status, 200);
    assert.equal((await chat(proxied, { messages })).status, 200);
    await settled(proxied, 2);
    assert.equal(await proxied.metric('tokenweir_inspections_total', { result: 'ok' }), 2);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total'), 0);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_reusable_total'), 0);
  });
});
