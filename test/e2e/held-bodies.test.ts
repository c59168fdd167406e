// Bodies that are too large, or too many at once, to be held for the inspection: they pass as they came, and are counted.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { withBos } from '../support/byte-models.ts';
import { complete, eventually, send, settled } from '../support/exchanges.ts';
import { lasting } from '../support/lasting-reply.ts';
import { native } from '../support/odd-bodies.ts';
import { openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { openClient, type RawClient } from '../support/raw-client.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;

async function serve(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<ProxiedEngine> {
  return openProxy(t, (await engine.server()).url, settings);
}

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

  it('passes whole at 100 MB', async (t) => {
    const proxied = await serve(t);
    const body = Buffer.concat([
      Buffer.from('{"prompt":"a","n_predict":1,"temperature":0,"seed":1,"padding":"'),
      Buffer.alloc(100_000_000, 'x'),
      Buffer.from('"}'),
    ]);
    const direct = await send(`${(await engine.server()).url}${native}`, body);
    const answer = await send(`${proxied.url}${native}`, body);
    assert.equal(direct.status, 200);
    assert.deepEqual(lasting(answer), lasting(direct));
    assert.equal(answer.said.inspection, 'unknown;body-too-large');
    assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', { reason: 'body-too-large' }), 1);
  });

  it('passes among a thousand whose uploads all stand still', async (t) => {
    const proxied = await serve(t, { LIMITS_HELD_BYTES_TOTAL: '1MiB' });
    // The engine says at once what is wrong with it, so that the thousand wait for nobody but us.
    const body = Buffer.from(`{"prompt":5,"padding":"${'x'.repeat(64 * 1024)}"}`);
    const head = `POST ${native} HTTP/1.1\r\nHost: proxy\r\nContent-Length: ${body.length}\r\n\r\n`;
    const uploads: RawClient[] = [];
    for (let count = 0; count < 1000; count += 1) {
      const client = await openClient(Number(new URL(proxied.url).port));
      t.after(() => {
        client.destroy();
      });
      client.send(head);
      client.send(body.subarray(0, -1));
      uploads.push(client);
    }
    const held = await proxied.metric('tokenweir_held_bytes');
    assert.ok(held > 0 && held <= 1024 * 1024, `${held} bytes held`);
    assert.equal((await complete(proxied, { prompt: 'a', n_predict: 1 })).status, 200);
    for (const client of uploads) client.send(body.subarray(-1));
    const replies = await Promise.all(uploads.map((client) => client.reply()));
    assert.deepEqual(
      new Set(replies.map(({ startLine }) => startLine)),
      new Set(['HTTP/1.1 400 Bad Request']),
    );
    await settled(proxied, 1001);
    assert.equal(await proxied.metric('tokenweir_inspections_total'), 1001);
    assert.equal(await proxied.metric('tokenweir_held_bytes'), 0);
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
