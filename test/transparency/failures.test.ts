/** The engine's own errors pass as they are; where there is no engine, the answer is shaped and shows no address. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { answerOk } from '../support/fake-upstream.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, get, openClient, post } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
after(assertNoLeaks);

const requests: Record<string, (headers?: string) => string | Buffer> = {
  '/v1/chat/completions': (headers) => post('/v1/chat/completions', '{}', headers),
  '/v1/messages': (headers) => post('/v1/messages', '{}', headers),
  '/tokenize': (headers) => post('/tokenize', '{}', headers),
  '/health': (headers) => get('/health', headers),
  '//odd': (headers) => get('//odd', headers),
};

describe('an engine that loads', () => {
  for (const [route, request] of Object.entries(requests)) {
    it(`is asked once on ${route}, and its 503 passes`, async (t) => {
      const rig = await startRig((exchange) =>
        exchange.reply(
          '503 Service Unavailable',
          'Content-Type: application/json\r\nRetry-After: 1',
          '{"error":{"message":"Loading model"}}',
        ),
      );
      t.after(rig.close);
      const reply = await exchangeBytes(rig.port, request());
      assert.equal(reply.startLine, 'HTTP/1.1 503 Service Unavailable');
      assert.equal(reply.body.toString(), '{"error":{"message":"Loading model"}}');
      assert.deepEqual(valuesOf(reply, 'retry-after'), ['1']);
      assert.equal(rig.upstream.exchanges.length, 1);
    });
  }
});

describe('the log of a proxy', () => {
  for (const [route, request] of Object.entries(requests)) {
    const generates = route.startsWith('/v1/');
    it(`${generates ? 'names the failure of' : 'has no line about'} ${route}, and never an address`, async (t) => {
      const lines: string[] = [];
      const rig = await startRig(() => undefined, { onLogLine: (line) => lines.push(line) });
      t.after(rig.close);
      lines.length = 0;
      const leaving = await openClient(rig.port);
      leaving.send(request());
      const exchange = await rig.upstream.exchange(0);
      leaving.destroy();
      await exchange.closed;
      while (rig.measured.inFlight > 0) await nextTurn();
      assert.deepEqual(lines, [], 'a client that leaves is no failure');
      await rig.upstream.close();
      await exchangeBytes(rig.port, request());
      assert.equal(lines.length, generates ? 1 : 0, lines.join(''));
      assert.ok(!lines.join('').includes(String(rig.upstream.port)), lines.join(''));
    });
  }
});

describe('an engine that is down', () => {
  for (const [route, request] of Object.entries(requests)) {
    it(`gives 502 on ${route}, shaped, without an address`, async (t) => {
      const rig = await startRig(answerOk);
      t.after(rig.close);
      await rig.upstream.close();
      const reply = await exchangeBytes(rig.port, request());
      assert.match(reply.startLine, /^HTTP\/1\.1 502 /);
      const text = reply.body.toString();
      const body = JSON.parse(text) as { type?: string; error: { type: string; code?: number } };
      assert.equal(body.error.type, 'upstream_unreachable');
      assert.equal(body.type, route === '/v1/messages' ? 'error' : undefined);
      assert.equal(body.error.code, route === '/v1/messages' ? undefined : 502);
      assert.ok(!text.includes('127.0.0.1') && !text.includes(String(rig.upstream.port)), text);
    });
  }

  it('is told to browsers with the CORS headers that the engine would send', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    await rig.upstream.close();
    const added = [
      ['tokenweir-action', 'pass'],
      ['tokenweir-request-id', 'r1'],
    ] as const;
    rig.inspector.verdict = () => ({ action: 'pass', responseHeaders: added });
    const reply = await exchangeBytes(rig.port, post('/v1/chat/completions', '{}', 'Origin: http://page'));
    assert.deepEqual(valuesOf(reply, 'access-control-allow-origin'), ['http://page']);
    assert.deepEqual(valuesOf(reply, 'access-control-allow-credentials'), ['true']);
    assert.deepEqual(valuesOf(reply, 'access-control-expose-headers'), [
      'tokenweir-action, tokenweir-request-id',
    ]);
    assert.deepEqual(valuesOf(reply, 'tokenweir-request-id'), ['r1']);
    assert.deepEqual(rig.inspector.seen[0]?.ends, [{ outcome: 'upstream-failed', status: 502 }]);
  });
});

describe('an engine that does not accept', () => {
  it('gives 504', async (t) => {
    // A server that never answers the TLS handshake: the connection is never ready.
    const silent = new Set<Socket>();
    const server = createServer((socket) => void silent.add(socket.on('error', () => undefined)));
    await once(server.listen({ port: 0, host: '127.0.0.1' }), 'listening');
    t.after(() => {
      for (const socket of silent) socket.destroy();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const rig = await startRig(answerOk, {
      upstreamOptions: { url: `https://127.0.0.1:${port}`, connectTimeoutMs: 50 },
    });
    t.after(rig.close);
    for (const [route, request] of Object.entries(requests)) {
      const reply = await exchangeBytes(rig.port, request());
      assert.match(reply.startLine, /^HTTP\/1\.1 504 /, route);
      assert.match(reply.body.toString(), /"type":"upstream_timeout"/);
      assert.ok(!reply.body.toString().includes('127.0.0.1'), reply.body.toString());
    }
  });
});

describe('an engine that dies before it answers', () => {
  for (const [route, request] of Object.entries(requests)) {
    it(`gives 502 on ${route}`, async (t) => {
      const rig = await startRig((exchange) => void exchange.socket.destroy());
      t.after(rig.close);
      const reply = await exchangeBytes(rig.port, request());
      assert.match(reply.startLine, /^HTTP\/1\.1 502 /);
      assert.match(reply.body.toString(), /"type":"upstream_closed"/);
      if (!['/health', '//odd'].includes(route)) assert.equal(rig.upstream.exchanges.length, 1, 'sent once');
    });
  }

  it('gives 502 for a reply that is not HTTP', async (t) => {
    const rig = await startRig((exchange) => exchange.write('SSH-2.0-OpenSSH_9\r\n\r\n'));
    t.after(rig.close);
    for (const request of Object.values(requests)) {
      const reply = await exchangeBytes(rig.port, request());
      assert.match(reply.startLine, /^HTTP\/1\.1 502 /);
    }
  });

  it('lets an answer through that came before the upload was complete', async (t) => {
    const rig = await startRig(
      async (exchange) => {
        await exchange.reply('413 Payload Too Large', 'Connection: close', 'too large');
      },
      { answerAt: 'head', limits: () => ({ requestBytes: 10, heldBytesTotal: 100 }) },
    );
    t.after(rig.close);
    for (const path of ['/v1/chat/completions', '/v1/messages', '/tokenize', '//odd']) {
      const reply = await exchangeBytes(
        rig.port,
        `POST ${path} HTTP/1.1\r\nHost: p\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"a":`,
      );
      assert.equal(reply.startLine, 'HTTP/1.1 413 Payload Too Large', path);
      assert.equal(reply.body.toString(), 'too large');
    }
  });
});
