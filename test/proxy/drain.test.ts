/** The end of a server: requests under way finish within the time given, the rest is cut off, nothing new gets in. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { answerOk } from '../support/fake-upstream.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { get, openClient, post } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
after(assertNoLeaks);

describe('drain', () => {
  for (const [name, request] of Object.entries({
    'a generation': post('/completion', '{}'),
    'a pass-through request': Buffer.from(get('/slots')),
  })) {
    it(`lets ${name} finish, and closes idle connections at once`, async () => {
      const rig = await startRig(() => undefined);
      const idle = await openClient(rig.port);
      const busy = await openClient(rig.port);
      busy.send(request);
      const exchange = await rig.upstream.exchange(0);
      const drained = rig.proxy.drain(60_000);
      await idle.closed;
      await assert.rejects(openClient(rig.port), /ECONNREFUSED/);
      await answerOk(exchange);
      const reply = await busy.reply();
      assert.equal(reply.startLine, 'HTTP/1.1 200 OK');
      assert.deepEqual(valuesOf(reply, 'connection'), ['close']);
      await drained;
      await busy.closed;
      assert.equal(rig.measured.inFlight, 0);
      await rig.upstream.close();
    });

    it(`cuts ${name} off when the time is over, upstream too`, async () => {
      const rig = await startRig(() => undefined);
      const client = await openClient(rig.port);
      client.send(request);
      const exchange = await rig.upstream.exchange(0);
      await rig.proxy.drain(20);
      await client.closed;
      await exchange.closed;
      await rig.upstream.close();
    });
  }

  it('closes a connection whose reply had already begun when the drain started', async () => {
    const rig = await startRig((exchange) => exchange.startChunked('200 OK', 'X-A: 1'));
    const client = await openClient(rig.port);
    client.send(post('/completion', '{}'));
    await client.head();
    const drained = rig.proxy.drain(60_000);
    const exchange = await rig.upstream.exchange(0);
    await exchange.chunk('x');
    await exchange.endChunked();
    assert.equal((await client.reply()).body.toString(), 'x');
    await drained;
    await client.closed;
    assert.deepEqual(rig.inspector.seen[0]?.ends, [{ outcome: 'completed', status: 200 }]);
    await rig.upstream.close();
  });

  it('of an idle server just ends', async () => {
    const rig = await startRig(answerOk);
    await rig.proxy.drain(60_000);
    await rig.upstream.close();
  });
});
