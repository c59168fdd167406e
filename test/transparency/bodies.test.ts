/** Bodies pass identical, both ways, on inspected routes, uninspected generation routes and pass-through routes. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { answerOk } from '../support/fake-upstream.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, openClient, post } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';
import { valuesOf } from '../support/http-message.ts';

const assertNoLeaks = watchLeaks();
const rig = await startRig(answerOk);
after(async () => {
  await rig.close();
  await assertNoLeaks();
});

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const routes = ['/v1/chat/completions', '/v1/messages', '/tokenize'];

const bodies: Record<string, Buffer> = {
  'a seed beyond 2^53 and 1.0': Buffer.from('{"seed": 12345678901234567890, "temperature": 1.0}'),
  'duplicate keys': Buffer.from('{"prompt":"a","prompt":"b","a":1,"a":2}'),
  'odd spacing and escapes': Buffer.from('\n{ "a" :\t"\\u00e9\\/" }\r\n  '),
  'broken JSON': Buffer.from('{"prompt": "x'),
  'bytes that are not UTF-8': Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x80, 0x7d]),
  'an empty body': Buffer.alloc(0),
  'a byte order mark': Buffer.from('\ufeff{"prompt":"x"}'),
  '3 MiB of noise': randomBytes(3 * 2 ** 20),
};

describe('request bodies', () => {
  for (const route of routes) {
    for (const [name, body] of Object.entries(bodies)) {
      it(`${route} keeps ${name}`, async () => {
        const index = rig.upstream.exchanges.length;
        const reply = await exchangeBytes(rig.port, post(route, body));
        assert.equal(reply.startLine, 'HTTP/1.1 200 OK');
        const { request } = await rig.upstream.exchange(index);
        assert.equal(sha256(request.body), sha256(body));
        assert.deepEqual(valuesOf(request, 'content-length'), [String(body.length)]);
      });
    }

    it(`${route} keeps a chunked body`, async () => {
      const index = rig.upstream.exchanges.length;
      const client = await openClient(rig.port);
      client.send(
        `POST ${route} HTTP/1.1\r\nHost: p\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      client.send('5\r\n{"a":\r\n');
      client.send('3\r\n1.0\r\n1\r\n}\r\n0\r\n\r\n');
      assert.equal((await client.reply()).startLine, 'HTTP/1.1 200 OK');
      client.destroy();
      assert.equal((await rig.upstream.exchange(index)).request.body.toString(), '{"a":1.0}');
    });

    it(`${route} keeps a compressed body`, async () => {
      const body = gzipSync('{"prompt":"x"}');
      const index = rig.upstream.exchanges.length;
      await exchangeBytes(rig.port, post(route, body, 'Content-Encoding: gzip'));
      assert.equal(sha256((await rig.upstream.exchange(index)).request.body), sha256(body));
    });

    it(`${route} keeps a body whose upload stops and goes on`, async () => {
      const index = rig.upstream.exchanges.length;
      const body = Buffer.from('{"prompt":"slow"}');
      const client = await openClient(rig.port);
      for (const part of [post(route, body).subarray(0, -9), body.subarray(-9, -1), body.subarray(-1)]) {
        await new Promise((resolve) => client.socket.write(part, resolve));
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      assert.equal((await client.reply()).startLine, 'HTTP/1.1 200 OK');
      client.destroy();
      assert.deepEqual((await rig.upstream.exchange(index)).request.body, body);
    });
  }
});

describe('reply bodies', () => {
  const replies: Record<string, Buffer> = {
    ...bodies,
    'a gzip reply': gzipSync('{"content":"hello"}'),
    '9 MiB, more than a tap retains': randomBytes(9 * 2 ** 20),
  };
  for (const route of routes) {
    for (const [name, body] of Object.entries(replies)) {
      it(`${route} keeps ${name}`, async () => {
        const headers = name === 'a gzip reply' ? 'Content-Encoding: gzip' : 'Content-Type: application/json';
        rig.upstream.answerWith((exchange) => exchange.reply('200 OK', headers, body));
        const reply = await exchangeBytes(rig.port, post(route, '{}', 'Accept-Encoding: gzip'));
        assert.equal(sha256(reply.body), sha256(body));
        assert.deepEqual(valuesOf(reply, 'content-length'), [String(body.length)]);
      });
    }
  }

  it('shows the inspector every byte of the reply, compressed or not', async () => {
    const body = gzipSync(randomBytes(200_000));
    rig.upstream.answerWith((exchange) =>
      exchange.reply('200 OK', 'Content-Encoding: GZIP\r\nContent-Type: Text/JSON', body),
    );
    await exchangeBytes(rig.port, post('/completion', '{}'));
    const seen = rig.inspector.seen.at(-1)!;
    await seen.ended;
    assert.deepEqual(seen.head, { status: 200, contentType: 'text/json', contentEncoding: 'gzip' });
    assert.equal(sha256(Buffer.concat(seen.chunks)), sha256(body));
    assert.deepEqual(seen.ends, [{ outcome: 'completed', status: 200 }]);
  });
});
