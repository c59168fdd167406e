/** What docs/transparency.md lists as not identical, tested as listed; a row without a test fails, and so does the reverse. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { answerOk } from '../support/fake-upstream.ts';
import { valuesOf, type HttpMessage } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, get, openClient, post } from '../support/raw-client.ts';
import { startRig, type TransportRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
after(assertNoLeaks);

const page = readFileSync(new URL('../../docs/transparency.md', import.meta.url), 'utf8');
const listed = [...page.matchAll(/^\| `([a-z-]+)` +\|/gm)].map((match) => match[1] ?? '');

async function sent(rig: TransportRig, bytes: string | Buffer): Promise<HttpMessage> {
  const index = rig.upstream.exchanges.length;
  await exchangeBytes(rig.port, bytes);
  return (await rig.upstream.exchange(index)).request;
}

async function answerOnly(rig: TransportRig, bytes: string | Buffer, status: number): Promise<void> {
  const reply = await exchangeBytes(rig.port, bytes);
  assert.match(reply.startLine, new RegExp(`^HTTP/1.1 ${status} `));
  assert.match(reply.body.toString(), /^\{"error":\{/);
  assert.equal(rig.upstream.exchanges.length, 0);
}

const exceptions: Record<string, (rig: TransportRig) => Promise<void>> = {
  host: async (rig) => {
    assert.deepEqual(valuesOf(await sent(rig, get('/props')), 'host'), [`127.0.0.1:${rig.upstream.port}`]);
  },
  'framing-headers': async (rig) => {
    const request = await sent(rig, post('/completion', '{}', 'X-A: 1'));
    assert.deepEqual(
      request.headers.map(([name]) => name),
      ['host', 'connection', 'X-A', 'content-length'],
    );
  },
  'empty-length': async (rig) => {
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
      const request = await sent(rig, `${method} /a HTTP/1.1\r\nHost: p\r\nContent-Length: 0\r\n\r\n`);
      assert.deepEqual(valuesOf(request, 'content-length'), [], method);
    }
    assert.deepEqual(valuesOf(await sent(rig, post('/tokenize', '')), 'content-length'), ['0']);
  },
  'held-chunked': async (rig) => {
    const chunked = 'HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
    assert.deepEqual(valuesOf(await sent(rig, `POST /completion ${chunked}`), 'content-length'), ['2']);
    assert.deepEqual(valuesOf(await sent(rig, `POST /v1/messages ${chunked}`), 'transfer-encoding'), [
      'chunked',
    ]);
  },
  'chunk-boundaries': async (rig) => {
    rig.upstream.answerWith(async (exchange) => {
      await exchange.startChunked('200 OK', 'X-A: 1');
      await exchange.write('1;name=value\r\na\r\n1\r\nb\r\n');
      await exchange.endChunked();
    });
    const client = await openClient(rig.port);
    client.send(post('/completion', '{}'));
    assert.equal((await client.reply()).body.toString(), 'ab');
    assert.ok(!client.received.includes('name=value'), 'chunk extensions are framing');
    client.destroy();
  },
  expect: async (rig) => {
    const client = await openClient(rig.port);
    client.send(post('/completion', '{}', 'Expect: 100-continue'));
    await client.saw('HTTP/1.1 100 Continue');
    client.destroy();
    assert.deepEqual(valuesOf((await rig.upstream.exchange(0)).request, 'expect'), []);
    assert.deepEqual(valuesOf(await sent(rig, get('/props', 'Expect: a-miracle')), 'expect'), []);
  },
  informational: async (rig) => {
    rig.upstream.answerWith(async (exchange) => {
      await exchange.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
      await answerOk(exchange);
    });
    for (const request of [post('/completion', '{}'), get('/props')]) {
      const reply = await exchangeBytes(rig.port, request);
      assert.equal(reply.startLine, 'HTTP/1.1 200 OK');
      assert.equal(reply.body.toString(), '{"ok":true}');
    }
  },
  trailers: async (rig) => {
    rig.upstream.answerWith(async (exchange) => {
      await exchange.startChunked('200 OK', 'Trailer: X-Sum');
      await exchange.chunk('a');
      await exchange.write('0\r\nX-Sum: 1\r\n\r\n');
    });
    const client = await openClient(rig.port);
    client.send(
      'POST /v1/messages HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\nX-Sum: 1\r\n\r\n',
    );
    assert.equal((await client.reply()).body.toString(), 'a');
    assert.ok(!client.received.includes('X-Sum'));
    client.destroy();
    assert.equal((await rig.upstream.exchange(0)).request.body.toString(), 'b');
  },
  'absolute-target': async (rig) => {
    for (const [target, path] of [
      ['http://other:1/props?x', '/props?x'],
      ['http://other', '/'],
    ] as const) {
      const { startLine } = await sent(rig, `GET ${target} HTTP/1.1\r\nHost: p\r\n\r\n`);
      assert.equal(startLine, `GET ${path} HTTP/1.1`);
    }
    assert.equal(
      (await sent(rig, post('http://other/completion', '{}'))).startLine,
      'POST /completion HTTP/1.1',
    );
    assert.equal(rig.inspector.seen[0]?.incoming.path, '/completion');
  },
  'asterisk-target': (rig) => answerOnly(rig, 'OPTIONS * HTTP/1.1\r\nHost: p\r\n\r\n', 501),
  connect: async (rig) => {
    const client = await openClient(rig.port);
    client.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    await client.closed;
    assert.equal(client.received.length + rig.upstream.exchanges.length, 0);
  },
  'raw-target-bytes': (rig) => answerOnly(rig, Buffer.from(get('/caf\u00e9')), 400),
  malformed: async (rig) => {
    await answerOnly(rig, 'GET / HTTP/1.1\r\nHost: p\r\nBad Header: 1\r\n\r\n', 400);
    const both =
      'POST / HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    await answerOnly(rig, both, 400);
  },
  'large-head': async (rig) => {
    await answerOnly(rig, get('/props', `X-Big: ${'x'.repeat(70_000)}`), 431);
    rig.upstream.answerWith((exchange) => exchange.reply('200 OK', `X-Big: ${'x'.repeat(70_000)}`, ''));
    for (const request of [post('/completion', '{}'), get('/props')]) {
      assert.match((await exchangeBytes(rig.port, request)).startLine, /^HTTP\/1\.1 502 /);
    }
  },
  upgrade: async (rig) => {
    const request = await sent(rig, get('/props', 'Connection: Upgrade\r\nUpgrade: h2c'));
    assert.deepEqual(valuesOf(request, 'upgrade'), []);
  },
  'half-closed': async (rig) => {
    rig.upstream.answerWith(() => undefined);
    const client = await openClient(rig.port);
    client.send(post('/completion', '{}'));
    const exchange = await rig.upstream.exchange(0);
    client.socket.end();
    await exchange.closed;
    await rig.inspector.seen[0]?.ended;
    assert.equal(rig.inspector.seen[0]?.ends[0]?.outcome, 'client-aborted');
  },
  websocket: async (rig) => {
    rig.upstream.answerWith((exchange) => exchange.reply('404 Not Found', '', 'no such route'));
    const socket = new WebSocket(`ws://127.0.0.1:${rig.port}/v1/realtime`);
    await once(socket, 'open');
    await once(socket, 'close');
    assert.equal((await rig.upstream.exchange(0)).target, '/v1/realtime');
  },
  'upstream-down': async (rig) => {
    await rig.upstream.close();
    await answerOnly(rig, post('/completion', '{}'), 502);
    await answerOnly(rig, get('/props'), 502);
  },
};

describe('exceptions to transparency', () => {
  it('are those that the page lists', () => {
    assert.deepEqual(listed.toSorted(), Object.keys(exceptions).toSorted());
  });
  for (const [id, check] of Object.entries(exceptions)) {
    it(id, async (t) => {
      const rig = await startRig(answerOk);
      t.after(rig.close);
      await check(rig);
    });
  }
});
