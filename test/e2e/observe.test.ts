// What the inspection can't read passes as it came: the client gets what the engine says of it, and it is counted why.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chat, complete, eventually, send, settled, type Answer } from '../support/exchanges.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { openClient, type RawClient } from '../support/raw-client.ts';
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

const passing = new Set([
  'timings',
  'id_slot',
  'id',
  'created',
  'tokens_cached',
  'usage',
  'generation_settings',
]);

/** What two equal requests have in common: errors wholly, replies without what time and slot make of them. */
function lasting({ status, text }: Answer): unknown {
  if (status !== 200) return { status, text };
  const json = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return { status, json: json.filter(([name]) => !passing.has(name)) };
}

const native = '/completion';
const chatRoute = '/v1/chat/completions';
const sampling = '"n_predict":1,"temperature":0,"seed":1';
const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

interface OddBody {
  readonly path: string;
  readonly body: Buffer;
  /** What the engine says of it, so that the row means what its name says. */
  readonly status: number;
  /** @defaultValue unknown;unreadable-body */
  readonly inspection?: string;
}

const oddBodies: Readonly<Record<string, OddBody>> = {
  'a byte order mark': {
    path: native,
    body: bytes([0xef, 0xbb, 0xbf], `{"prompt":"a",${sampling}}`),
    status: 200,
  },
  'a lone surrogate': { path: native, body: bytes(`{"prompt":"\\ud800",${sampling}}`), status: 400 },
  'bytes that are no UTF-8': { path: native, body: bytes('{"prompt":"a', [0xff], '"}'), status: 400 },
  'an encoded surrogate': { path: native, body: bytes('{"prompt":"', [0xed, 0xa0, 0x80], '"}'), status: 400 },
  'a NUL after the object': { path: native, body: bytes(`{"prompt":"a",${sampling}}`, [0]), status: 200 },
  'a NUL in a string': { path: native, body: bytes('{"prompt":"a', [0], '"}'), status: 400 },
  'broken JSON': { path: native, body: bytes('{"prompt":"a"'), status: 400 },
  'text after the object': { path: native, body: bytes('{"prompt":"a"} x'), status: 400 },
  'no bytes at all': { path: native, body: bytes(), status: 400 },
  'an array': { path: native, body: bytes('[1]'), status: 400 },
  'a number as prompt': { path: native, body: bytes('{"prompt":5}'), status: 400 },
  'no prompt': { path: native, body: bytes('{}'), status: 400 },
  'an id beyond 32 bits': { path: native, body: bytes('{"prompt":[99999999999]}'), status: 400 },
  'an id beyond the vocabulary': {
    path: native,
    // Behind BOS, which ids must bring along.
    body: bytes('{"prompt":[264,99999999]}'),
    status: 400,
    inspection: 'ok',
  },
  'deep nesting': {
    path: native,
    body: bytes(`{"prompt":"a","x":${deep(20_000)},${sampling}}`),
    status: 200,
  },
  'no messages': { path: chatRoute, body: bytes('{}'), status: 400 },
  'an empty list of messages': { path: chatRoute, body: bytes(`{"messages":[],${sampling}}`), status: 200 },
  'messages that are none': { path: chatRoute, body: bytes('{"messages":["a"]}'), status: 400 },
  'a message without a role': { path: chatRoute, body: bytes('{"messages":[{"content":"a"}]}'), status: 500 },
  'a number as content': {
    path: chatRoute,
    body: bytes('{"messages":[{"role":"user","content":5}]}'),
    status: 400,
    inspection: 'unknown;oracle-refused',
  },
};

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

describe('a body that is not held', { skip }, () => {
  it('passes whole if it is larger than the limit', async (t) => {
    const proxied = await serve(t, { LIMITS_REQUEST_BYTES: '1KiB' });
    const body = { prompt: 'a'.repeat(2000), seed: 1, temperature: 0 };
    const direct = await complete(await engine.server(), body);
    const answer = await complete(proxied, body);
    assert.deepEqual(lasting(answer), lasting(direct));
    assert.equal(answer.said.inspection, 'unknown;body-too-large');
    assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', { reason: 'body-too-large' }), 1);
    // One that does not say its length is found too large on the way.
    const chunked = await fetch(`${proxied.url}${native}`, {
      method: 'POST',
      body: new Blob([JSON.stringify({ n_predict: 2, ...body })]).stream(),
      duplex: 'half',
    });
    assert.equal(chunked.headers.get('tokenweir-inspection'), 'unknown;body-too-large');
    const { status } = chunked;
    const text = await chunked.text();
    assert.deepEqual(lasting({ ...answer, status, text }), lasting(direct));
    assert.equal((await complete(proxied, { prompt: 'a' })).said.inspection, 'ok');
  });

  it('passes whole if too many are held already', async (t) => {
    const limit = 64 * 1024;
    const proxied = await serve(t, { LIMITS_HELD_BYTES_TOTAL: '64KiB' });
    const size = 16 * 1024;
    const body = Buffer.from(JSON.stringify({ prompt: 'a', n_predict: 1, padding: '' }));
    const padded = Buffer.concat([
      body.subarray(0, -2),
      Buffer.alloc(size - body.length, 'x'),
      Buffer.from('"}'),
    ]);
    const head = `POST ${native} HTTP/1.1\r\nHost: proxy\r\nContent-Length: ${size}\r\n\r\n`;
    const uploads: RawClient[] = [];
    for (let count = 0; count < 40; count += 1) {
      const client = await openClient(Number(new URL(proxied.url).port));
      t.after(() => {
        client.destroy();
      });
      client.send(head);
      client.send(padded.subarray(0, -1));
      uploads.push(client);
    }
    let most = 0;
    await eventually(async () => {
      const held = await proxied.metric('tokenweir_held_bytes');
      most = Math.max(most, held);
      return held > limit - size;
    }, 'uploads are held up to the limit');
    for (const client of uploads) client.send(padded.subarray(-1));
    const replies = await Promise.all(uploads.map((client) => client.reply()));
    assert.deepEqual(new Set(replies.map(({ startLine }) => startLine)), new Set(['HTTP/1.1 200 OK']));
    await settled(proxied, uploads.length);
    assert.ok(most <= limit, `${most} bytes held`);
    const passed = await proxied.metric('tokenweir_inspection_unknown_total', {
      reason: 'held-bytes-exhausted',
    });
    assert.ok(passed >= uploads.length - limit / size && passed < uploads.length, `${passed} were not held`);
    assert.equal(
      await proxied.metric('tokenweir_inspections_total', { result: 'ok' }),
      uploads.length - passed,
    );
    assert.equal(await proxied.metric('tokenweir_held_bytes'), 0);
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
});
