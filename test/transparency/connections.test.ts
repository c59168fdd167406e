/** Connections: the engine may close them when it likes, clients may pipeline or speak HTTP/1.0, TLS and unix sockets work. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { answerOk, type UpstreamExchange } from '../support/fake-upstream.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, get, openClient, post } from '../support/raw-client.ts';
import { selfSignedCertificate } from '../support/self-signed-certificate.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
after(assertNoLeaks);

describe('an engine that closes idle connections, and each after some requests', () => {
  const idleMs = 5;
  for (const [name, request] of Object.entries({
    'POST on a generation route': post('/completion', '{}'),
    'POST on a pass-through route': post('/tokenize', '{}'),
    'GET on a pass-through route': Buffer.from(get('/health')),
  })) {
    it(`never fails 300 times ${name}`, async (t) => {
      const served = new Map<number, number>();
      const rig = await startRig(async (exchange: UpstreamExchange) => {
        const { socket, connection } = exchange;
        const count = (served.get(connection) ?? 0) + 1;
        served.set(connection, count);
        // Says it keeps the connection, then closes it: after 7 requests, or when it was idle for a moment.
        await exchange.reply('200 OK', 'Keep-Alive: timeout=5, max=100', 'ok');
        if (count === 7) socket.destroy();
        else socket.setTimeout(idleMs, () => socket.destroy());
      });
      t.after(rig.close);
      const client = await openClient(rig.port);
      for (let sent = 0; sent < 300; sent++) {
        client.send(request);
        assert.equal((await client.reply()).startLine, 'HTTP/1.1 200 OK', `request ${sent}`);
        // Around the moment at which the engine closes.
        if (sent % 10 === 0) await new Promise((resolve) => setTimeout(resolve, idleMs - 1 + (sent % 3)));
      }
      client.destroy();
      if (name.startsWith('POST')) assert.equal(rig.upstream.exchanges.length, 300, 'each was sent once');
    });
  }

  it('gets a connection of its own for each generation request, which ends with the reply', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    for (let sent = 0; sent < 3; sent++) {
      await exchangeBytes(rig.port, post('/completion', '{}'));
      const exchange = await rig.upstream.exchange(sent);
      await exchange.closed;
      assert.equal(exchange.connection, sent);
      assert.deepEqual(valuesOf(exchange.request, 'connection'), ['close']);
    }
  });
});

describe('clients', () => {
  it('may use one connection for many requests', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    const client = await openClient(rig.port);
    for (const request of [post('/completion', '{}'), get('/props'), post('/tokenize', '{}'), get('//odd')]) {
      client.send(request);
      assert.equal((await client.reply()).startLine, 'HTTP/1.1 200 OK');
    }
    client.destroy();
  });

  it('may pipeline, and get the answers in order', async (t) => {
    const answers: UpstreamExchange[] = [];
    const rig = await startRig(async (exchange) => {
      answers.push(exchange);
      if (answers.length < 12) return;
      // Answered in reverse order of arrival.
      for (const waiting of answers.toReversed()) await waiting.reply('200 OK', 'X-A: 1', waiting.target);
    });
    t.after(rig.close);
    const targets = Array.from({ length: 12 }, (_unused, at) => `/completion?n=${at}`);
    const client = await openClient(rig.port);
    client.send(Buffer.concat(targets.map((target) => post(target, '{}'))));
    for (const target of targets) assert.equal((await client.reply()).body.toString(), target);
    client.destroy();
  });

  it('may pipeline and leave: nothing runs on upstream, queued requests included', async (t) => {
    const rig = await startRig(() => undefined);
    t.after(rig.close);
    const client = await openClient(rig.port);
    client.send(
      Buffer.concat([post('/completion', '{}'), post('/v1/messages', '{}'), Buffer.from(get('/slots'))]),
    );
    const exchanges = await Promise.all([0, 1, 2].map((at) => rig.upstream.exchange(at)));
    client.destroy();
    await Promise.all(exchanges.map((exchange) => exchange.closed));
  });

  it('may speak HTTP/1.0: a chunked reply ends with the connection', async (t) => {
    const rig = await startRig(async (exchange) => {
      await exchange.startChunked('200 OK', 'X-A: 1');
      await exchange.chunk('one ');
      await exchange.chunk('two');
      await exchange.endChunked();
    });
    t.after(rig.close);
    for (const path of ['/completion', '/tokenize', '//odd']) {
      const reply = await exchangeBytes(
        rig.port,
        `POST ${path} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
      );
      assert.match(reply.startLine, /^HTTP\/1\.1 200 OK/);
      assert.deepEqual(valuesOf(reply, 'transfer-encoding'), []);
      assert.equal(reply.body.toString(), 'one two');
    }
  });

  it('may offer h2c, as Java clients do with every request, and are served as if they had not', async (t) => {
    const rig = await startRig(answerOk);
    t.after(rig.close);
    const offer =
      'Connection: Upgrade, HTTP2-Settings, X-Mine\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\nX-Mine: 1\r\nX-Yours: 2';
    const client = await openClient(rig.port);
    for (const [at, path] of ['/completion', '/tokenize', '/v1/messages'].entries()) {
      const whole = post(path, '{"a":1.0}', `Content-Type: application/json\r\n${offer}`);
      client.send(whole.subarray(0, -3));
      client.send(whole.subarray(-3));
      assert.equal((await client.reply()).startLine, 'HTTP/1.1 200 OK');
      const { request } = await rig.upstream.exchange(at);
      assert.equal(request.body.toString(), '{"a":1.0}');
      assert.deepEqual(valuesOf(request, 'upgrade'), []);
      assert.deepEqual(valuesOf(request, 'x-mine'), []);
      assert.deepEqual(valuesOf(request, 'x-yours'), ['2']);
    }
    client.destroy();
  });
});

describe('upstreams', () => {
  it('may listen on a unix socket, with a base path', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'));
    const rig = await startRig(answerOk, { socketPath: join(folder, 'engine.sock'), basePath: ':/base' });
    t.after(async () => {
      await rig.close();
      rmSync(folder, { recursive: true });
    });
    for (const [at, request] of [
      post('/completion', '{}'),
      get('/props'),
      post('/tokenize', '{}'),
    ].entries()) {
      assert.equal((await exchangeBytes(rig.port, request)).startLine, 'HTTP/1.1 200 OK');
      assert.match((await rig.upstream.exchange(at)).target, /^\/base\//);
    }
  });

  it('are verified when they speak TLS, unless told otherwise', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'));
    const tls = selfSignedCertificate();
    const cert = join(folder, 'cert.pem');
    writeFileSync(cert, tls.cert);
    const expected = [
      { options: {}, status: 502 },
      { options: { ca: cert }, status: 200 },
      { options: { insecureTls: true }, status: 200 },
    ];
    for (const { options, status } of expected) {
      const rig = await startRig(answerOk, { tls, upstreamOptions: options });
      for (const request of [
        post('/completion', '{}'),
        get('/props'),
        post('/tokenize', '{}'),
        get('//odd'),
      ]) {
        const reply = await exchangeBytes(rig.port, request);
        assert.match(reply.startLine, new RegExp(`^HTTP/1.1 ${status} `), JSON.stringify(options));
      }
      await rig.close();
    }
    rmSync(folder, { recursive: true });
  });
});
