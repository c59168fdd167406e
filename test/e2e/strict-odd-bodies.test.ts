// Strict mode is not talked past by how a body is written: what the engine reads is what is judged and repaired.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { send, settled } from '../support/exchanges.ts';
import { openGated } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const { skip } = gemma3;

const mark = '\ufeff';
const turn = '<start_of_turn>user\\nHi<end_of_turn>\\n<start_of_turn>model\\n';
const options = '"n_predict":1,"temperature":0,"seed":1';
const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
const written = (prompt: string): Readonly<Record<string, Buffer>> => ({
  'behind a byte order mark': Buffer.from(`${mark}{"prompt":${prompt},${options}}`),
  'before a NUL and more': Buffer.concat([
    Buffer.from(`{"prompt":${prompt},${options}}\0{"prompt":"a"}`),
    Buffer.from([0xff]),
  ]),
  'beside deep nesting': Buffer.from(`{"x":${deep},"prompt":${prompt},${options}}`),
});

describe('a doubled BOS', { skip }, () => {
  const doubled = {
    ...written(`"<bos>${turn}"`),
    ...Object.fromEntries(
      [2, 2 ** 32 + 2, 2 ** 40 + 2, 2 - 2 ** 32].map((id) => [
        `as the id ${id}`,
        Buffer.from(`{"prompt":[2,${id},105],${options}}`),
      ]),
    ),
    'as an id that is cast, before a text': Buffer.from(`{"prompt":[2,${2 ** 32 + 2},"a"],${options}}`),
  };
  for (const [name, body] of Object.entries(doubled)) {
    it(`is rejected ${name}`, async (t) => {
      const { url } = await gemma3.server();
      const direct = await send(`${url}/completion`, body);
      assert.equal(direct.status, 200);
      assert.match(String(direct.json['prompt']), /^<bos><bos>/, 'what the engine reads');
      const { gated, proxied } = await openGated(t, url, { MODE: 'strict' });
      const answer = await send(`${proxied.url}/completion`, body);
      assert.equal(answer.status, 400);
      assert.equal((answer.json['error'] as { code: string }).code, 'double_bos');
      assert.equal(gated.count('/completion'), 0);
    });
  }

  for (const [name, body] of Object.entries(written(`"<bos>${turn}"`))) {
    it(`is cut out ${name}, and no other byte is changed`, async (t) => {
      const { url } = await gemma3.server();
      const settings = { MODE: 'strict', DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' };
      const { gated, proxied } = await openGated(t, url, settings);
      const answer = await send(`${proxied.url}/completion`, body);
      assert.deepEqual([answer.status, answer.said.action], [200, 'rewrite']);
      const at = body.indexOf('<bos>');
      const cut = Buffer.concat([body.subarray(0, at), body.subarray(at + '<bos>'.length)]);
      assert.ok(gated.bodies('/completion')[0]?.equals(cut));
      await settled(proxied, 1);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
    });
  }
});

describe('a conversation', { skip }, () => {
  const messages = '"messages":[{"role":"user","content":"<bos><bos>Hi"}]';
  const bodies: Readonly<Record<string, readonly [path: string, body: string]>> = {
    'of chat completions': ['/v1/chat/completions', `{${messages},"max_tokens":1}`],
    'of messages': ['/v1/messages', `{${messages},"max_tokens":1}`],
    'of responses': ['/v1/responses', '{"input":"Hi","temperature":1.0,"max_output_tokens":1}'],
  };
  for (const [name, [path, body]] of Object.entries(bodies)) {
    it(`${name} is read as the engine reads it, whatever stands around it and however deep`, async (t) => {
      const { url } = await gemma3.server();
      const { proxied } = await openGated(t, url);
      const variants = [`${mark}${body}`, `${body}\0 }`, `{"x":${deep},${body.slice(1)}`];
      for (const [index, variant] of [body, ...variants].entries()) {
        const direct = await send(url + path, Buffer.from(variant));
        const answer = await send(proxied.url + path, Buffer.from(variant));
        assert.deepEqual([direct.status, answer.status], [200, 200], answer.text);
        assert.equal(answer.said.inspection, 'ok', variant.slice(0, 20));
        await settled(proxied, index + 1);
        assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), index + 1);
      }
    });
  }
});
