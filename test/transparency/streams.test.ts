/** Streams: what the engine writes arrives as it is written, a slow client slows the engine, a cut stays a cut. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { answerOk, type Answer } from '../support/fake-upstream.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, get, openClient, post } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
const rig = await startRig(answerOk);
after(async () => {
  await rig.close();
  await assertNoLeaks();
});

const sse = 'Content-Type: text/event-stream\r\nX-Conversation-Id: c1';
const requests = {
  '/v1/chat/completions': () => post('/v1/chat/completions', '{"stream":true}', 'X-Conversation-Id: c1'),
  '/v1/messages': () => post('/v1/messages', '{"stream":true}'),
  '/v1/stream': () => Buffer.from(get('/v1/stream?conv_id=c1&from=0')),
  '//odd': () => Buffer.from(get('//odd')),
};

for (const [route, request] of Object.entries(requests)) {
  describe(`streams on ${route}`, () => {
    it('arrive piece by piece, head first, comment pings included', async () => {
      const index = rig.upstream.exchanges.length;
      rig.upstream.answerWith((exchange) => exchange.startChunked('200 OK', sse));
      const client = await openClient(rig.port);
      client.send(request());
      const head = await client.head();
      assert.deepEqual(valuesOf(head, 'x-conversation-id'), ['c1']);
      const exchange = await rig.upstream.exchange(index);
      // An event cut inside the three bytes of a euro sign; each piece must come before the next is written.
      const euro = Buffer.from('data: {"content":"\u20ac"}\n\n');
      const cut = euro.indexOf(0x82);
      const pieces = [
        euro.subarray(0, cut),
        euro.subarray(cut),
        Buffer.from(':\n\n'),
        Buffer.from('data: [DONE]\n\n'),
      ];
      for (const piece of pieces) {
        await exchange.chunk(piece);
        await client.saw(piece);
      }
      await exchange.endChunked();
      assert.deepEqual((await client.reply()).body, Buffer.concat(pieces));
      client.destroy();
    });

    it('are cut off for the client when the engine dies, after all that it had written', async () => {
      const index = rig.upstream.exchanges.length;
      rig.upstream.answerWith(async (exchange) => {
        await exchange.startChunked('200 OK', sse);
        await exchange.chunk('data: 1\n\n');
      });
      const client = await openClient(rig.port);
      client.send(request());
      await client.saw('data: 1\n\n');
      const exchange = await rig.upstream.exchange(index);
      await exchange.chunk('data: 2\n\n');
      exchange.socket.end();
      await client.closed;
      const text = client.received.toString();
      assert.ok(text.includes('data: 2\n\n'), text);
      assert.ok(!text.endsWith('0\r\n\r\n'), 'a clean end was made up');
    });

    it('are cut off when a reply is shorter than its length', async () => {
      rig.upstream.answerWith(async (exchange) => {
        await exchange.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789');
        exchange.socket.end();
      });
      const client = await openClient(rig.port);
      client.send(request());
      await assert.rejects(client.reply(), /closed after/);
      assert.ok(client.received.toString().endsWith('0123456789'));
    });

    it('that end with the connection pass whole', async () => {
      rig.upstream.answerWith(async (exchange) => {
        await exchange.write('HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nuntil the end');
        exchange.socket.end();
      });
      assert.equal((await exchangeBytes(rig.port, request())).body.toString(), 'until the end');
    });

    it('slow down for a slow client', async () => {
      const total = 64 * 2 ** 20;
      let written = 0;
      const flood: Answer = async (exchange) => {
        await exchange.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
        const block = Buffer.alloc(256 * 1024);
        while (written < total && !exchange.socket.destroyed) {
          await exchange.write(block);
          written += block.length;
        }
      };
      rig.upstream.answerWith(flood);
      const client = await openClient(rig.port);
      client.socket.pause();
      client.send(request());
      // Held back once it makes no progress over several looks.
      for (let still = 0; still < 5;) {
        const before = written;
        await new Promise((resolve) => setTimeout(resolve, 40));
        still = written === before && written > 0 ? still + 1 : 0;
      }
      assert.ok(
        written < total / 2,
        `the engine wrote ${written} of ${total} bytes to a client that reads none`,
      );
      client.socket.resume();
      assert.equal((await client.reply()).body.length, total);
      client.destroy();
    });
  });
}

it('tells the inspector how a stream ended', async () => {
  rig.upstream.answerWith(async (exchange) => {
    await exchange.startChunked('200 OK', sse);
    await exchange.chunk('data: 1\n\n');
    exchange.socket.end();
  });
  const client = await openClient(rig.port);
  client.send(post('/completion', '{}'));
  await client.closed;
  const seen = rig.inspector.seen.at(-1)!;
  await seen.ended;
  assert.deepEqual(seen.ends, [{ outcome: 'upstream-failed', status: 200 }]);
  assert.equal(Buffer.concat(seen.chunks).toString(), 'data: 1\n\n');
});

it('measures the time to the first byte of the body, not of the head', async () => {
  const index = rig.upstream.exchanges.length;
  const before = rig.measured.firstBytes.length;
  rig.upstream.answerWith((exchange) => exchange.startChunked('200 OK', sse));
  const client = await openClient(rig.port);
  client.send(post('/completion', '{}'));
  await client.head();
  assert.equal(rig.measured.firstBytes.length, before);
  const exchange = await rig.upstream.exchange(index);
  await exchange.chunk('data: 1\n\n');
  await client.saw('data: 1');
  assert.equal(rig.measured.firstBytes.length, before + 1);
  client.destroy();
  await once(exchange.socket, 'close');
});
