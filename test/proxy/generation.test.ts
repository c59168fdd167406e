/** What the transport does with a verdict, what it holds, and what it tells the inspector. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { IncomingRequest } from '../../src/exchange/inspection.ts';
import { answerOk } from '../support/fake-upstream.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, openClient, post } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
after(assertNoLeaks);

describe('a verdict', () => {
  it('"pass" adds its headers after those of the engine', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    rig.inspector.verdict = () => ({ action: 'pass', responseHeaders: [['tokenweir-action', 'pass']] });
    const reply = await exchangeBytes(rig.port, post('/completion', '{"prompt":"x"}'));
    assert.deepEqual(
      reply.headers
        .filter(([name]) => name.toLowerCase() !== 'connection')
        .slice(0, 3)
        .map(([name]) => name),
      ['Content-Type', 'Content-Length', 'tokenweir-action'],
    );
    assert.equal((await rig.upstream.exchange(0)).request.body.toString(), '{"prompt":"x"}');
  });

  it('"rewrite" sends the new body with its own length, however the old one was framed', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    const body = Buffer.from('{"prompt":"new \u20ac"}');
    rig.inspector.verdict = () => ({
      action: 'rewrite',
      body,
      responseHeaders: [['tokenweir-action', 'rewrite']],
    });
    await exchangeBytes(rig.port, post('/completion', '{"prompt":"<bos>new"}'));
    await exchangeBytes(
      rig.port,
      'POST /completion HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    );
    for (const at of [0, 1]) {
      const { request } = await rig.upstream.exchange(at);
      assert.deepEqual(request.body, body);
      assert.deepEqual(valuesOf(request, 'content-length'), [String(body.length)]);
      assert.deepEqual(valuesOf(request, 'transfer-encoding'), []);
    }
  });

  it('"reject" is answered by us, CORS headers included, and the engine is never called', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    rig.inspector.verdict = () => ({
      action: 'reject',
      status: 400,
      body: '{"error":{"code":"double_bos"}}',
      responseHeaders: [
        ['tokenweir-action', 'reject'],
        ['tokenweir-findings', 'double-bos'],
      ],
    });
    const reply = await exchangeBytes(rig.port, post('/completion', '{}', 'Origin: http://page'));
    assert.equal(reply.startLine, 'HTTP/1.1 400 Bad Request');
    assert.equal(reply.body.toString(), '{"error":{"code":"double_bos"}}');
    assert.deepEqual(valuesOf(reply, 'content-type'), ['application/json; charset=utf-8']);
    assert.deepEqual(valuesOf(reply, 'tokenweir-findings'), ['double-bos']);
    assert.deepEqual(valuesOf(reply, 'access-control-allow-origin'), ['http://page']);
    assert.deepEqual(valuesOf(reply, 'access-control-expose-headers'), [
      'tokenweir-action, tokenweir-findings',
    ]);
    assert.equal(rig.upstream.connections, 0);
    assert.deepEqual(rig.inspector.seen[0]?.ends, [{ outcome: 'rejected', status: 400 }]);
    const plain = await exchangeBytes(rig.port, post('/completion', '{}'));
    assert.deepEqual(valuesOf(plain, 'access-control-allow-origin'), []);
  });

  it('that never comes because the inspector broke is a 500 of ours, shaped', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    rig.inspector.verdict = () => Promise.reject(new Error('secret detail'));
    const reply = await exchangeBytes(rig.port, post('/completion', '{}'));
    assert.match(reply.startLine, /^HTTP\/1\.1 500 /);
    assert.match(reply.body.toString(), /"type":"proxy_failed"/);
    assert.ok(!reply.body.toString().includes('secret'));
    assert.deepEqual(rig.inspector.seen[0]?.ends, [{ outcome: 'proxy-failed', status: 500 }]);
    assert.equal(rig.measured.heldBytes, 0);
  });
});

describe('what the inspector is shown', () => {
  it('the request, read only', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    await exchangeBytes(
      rig.port,
      post('/completion?x=1', '{"a":1}', 'X-Request-Id: req-7\r\nX-A: 1\r\nx-a: 2'),
    );
    const { incoming } = rig.inspector.seen[0]!;
    const { id, method, path, url, remoteAddress, route, body, headers } = incoming;
    assert.deepEqual(
      {
        id,
        method,
        path,
        url,
        remoteAddress,
        kind: route.kind,
        body: body.toString(),
        joined: headers['x-a'],
      },
      {
        id: 'req-7',
        method: 'POST',
        path: '/completion',
        url: '/completion?x=1',
        remoteAddress: '127.0.0.1',
        kind: 'completion',
        body: '{"a":1}',
        joined: '1, 2',
      },
    );
    assert.ok(Math.abs(incoming.receivedAtMs - Date.now()) < 60_000);
  });

  it('an id of our own where the client sent none or an unusable one', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    for (const sent of ['X-A: 1', 'X-Request-Id: two words', `X-Request-Id: ${'x'.repeat(200)}`]) {
      await exchangeBytes(rig.port, post('/completion', '{}', sent));
    }
    for (const { incoming } of rig.inspector.seen) assert.match(incoming.id, /^[0-9a-f-]{36}$/);
  });

  const limits = { requestBytes: 1000, heldBytesTotal: 2500 };
  const chunked = (body: string): string =>
    `POST /completion HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const reasons: { name: string; request: string | Buffer; body: string; shown: IncomingRequest['body'] }[] =
    [
      {
        name: 'a declared length over the limit',
        request: post('/completion', 'x'.repeat(1001)),
        body: 'x'.repeat(1001),
        shown: 'body-too-large',
      },
      {
        name: 'a chunked body over the limit',
        request: chunked('y'.repeat(5000)),
        body: 'y'.repeat(5000),
        shown: 'body-too-large',
      },
      {
        name: 'a compressed body',
        request: post('/completion', 'zz', 'Content-Encoding: zstd'),
        body: 'zz',
        shown: 'compressed-body',
      },
      {
        name: 'a route that is not inspected',
        request: post('/v1/messages', '{}'),
        body: '{}',
        shown: 'route-not-inspected',
      },
      {
        name: 'the identity coding',
        request: post('/completion', '{}', 'Content-Encoding: Identity'),
        body: '{}',
        shown: Buffer.from('{}'),
      },
      {
        name: 'a body at the limit',
        request: post('/completion', 'x'.repeat(1000)),
        body: 'x'.repeat(1000),
        shown: Buffer.from('x'.repeat(1000)),
      },
    ];
  for (const { name, request, body, shown } of reasons) {
    it(`for ${name}: ${Buffer.isBuffer(shown) ? 'the bytes' : shown}; all of it is forwarded`, async (t) => {
      const rig = await startRig(answerOk, { limits: () => limits });
      t.after(rig.close);
      assert.equal((await exchangeBytes(rig.port, request)).startLine, 'HTTP/1.1 200 OK');
      assert.deepEqual(rig.inspector.seen[0]?.incoming.body, shown);
      assert.equal((await rig.upstream.exchange(0)).request.body.toString(), body);
      assert.equal(rig.measured.heldBytes, 0);
    });
  }

  it('held-bytes-exhausted once all requests together hold too much; room is given back at the end', async (t) => {
    const rig = await startRig(answerOk, { limits: () => limits });
    t.after(rig.close);
    let release = (): void => undefined;
    const wait = new Promise<void>((resolve) => {
      release = resolve;
    });
    rig.inspector.verdict = async ({ body }) => {
      if (Buffer.isBuffer(body)) await wait;
      return { action: 'pass', responseHeaders: [] };
    };
    const holding = await Promise.all([0, 1].map(() => openClient(rig.port)));
    for (const client of holding) client.send(post('/completion', 'x'.repeat(1000)));
    while (rig.inspector.seen.length < 2) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(rig.measured.heldBytes, 2000);
    const third = await exchangeBytes(rig.port, post('/completion', 'z'.repeat(900)));
    assert.equal(third.startLine, 'HTTP/1.1 200 OK');
    assert.equal(rig.inspector.seen[2]?.incoming.body, 'held-bytes-exhausted');
    assert.equal(rig.upstream.exchanges[0]?.request.body.toString(), 'z'.repeat(900));
    release();
    for (const client of holding) {
      await client.reply();
      client.destroy();
    }
    await Promise.all(rig.inspector.seen.map(({ ended }) => ended));
    assert.equal(rig.measured.heldBytes, 0);
  });

  it('new limits reach the next request', async (t) => {
    let requestBytes = 1;
    const rig = await startRig(answerOk, { limits: () => ({ requestBytes, heldBytesTotal: 1000 }) });
    t.after(rig.close);
    await exchangeBytes(rig.port, post('/completion', '{}'));
    requestBytes = 2;
    await exchangeBytes(rig.port, post('/completion', '{}'));
    assert.deepEqual(
      rig.inspector.seen.map(({ incoming }) => incoming.body),
      ['body-too-large', Buffer.from('{}')],
    );
  });
});
