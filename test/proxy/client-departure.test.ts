// When a client counts as gone, on real connections: at once when it closes or half-closes, never once its answer is
// written, and for each request that waits on its connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { Departure } from '../../src/proxy/client-departure.ts';
import { get, openClient, type RawClient } from '../support/raw-client.ts';

interface Watched {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly departure: Departure;
}

/** A client and a server that answers nothing by itself; `requests` are sent in one piece. */
async function watch(
  t: TestContext,
  requests = 1,
): Promise<{ readonly client: RawClient; readonly watched: readonly Watched[] }> {
  const watched: Watched[] = [];
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const arrived = new Promise<void>((resolve) => {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      watched.push({ request, response, departure: new Departure(request, response) });
      if (watched.length === requests) resolve();
    });
  });
  const client = await openClient((server.address() as AddressInfo).port);
  client.send(get('/').repeat(requests));
  await arrived;
  return { client, watched };
}

describe('a client that closes its sending side', () => {
  it('is gone in the turn in which that is read, before the connection closes', async (t) => {
    const { client, watched } = await watch(t);
    const { request, departure } = watched[0]!;
    const told: string[] = [];
    departure.onLeft(() => told.push('left'));
    request.socket.once('end', () => told.push('end')).once('close', () => told.push('close'));
    client.socket.end();
    await once(request.socket, 'close');
    assert.deepEqual(told, ['left', 'end', 'close']);
    assert.ok(departure.left);
  });

  it('is not gone if its answer is written, and gets all of it', async (t) => {
    const { client, watched } = await watch(t);
    const { request, response, departure } = watched[0]!;
    const body = 'x'.repeat(16 * 1024 * 1024);
    client.socket.pause();
    response.setHeader('content-length', body.length);
    response.end(body);
    assert.ok(!response.writableFinished, 'more than the connection takes unread');
    client.socket.end();
    await once(request.socket, 'end');
    assert.ok(!departure.left);
    client.socket.resume();
    assert.equal((await client.reply()).body.length, body.length);
    assert.ok(!departure.left);
  });
});

describe('a client that closes its connection', () => {
  it('is gone for each request that it has sent ahead', async (t) => {
    const { client, watched } = await watch(t, 3);
    const told = watched.map(({ departure }) => new Promise<void>((left) => void departure.onLeft(left)));
    client.socket.resetAndDestroy();
    await Promise.all(told);
    assert.deepEqual(
      watched.map(({ departure }) => departure.left),
      [true, true, true],
    );
  });

  it('is gone for whoever asks later, and not told to who has stopped listening', async (t) => {
    const { client, watched } = await watch(t);
    const { request, response, departure } = watched[0]!;
    const told: string[] = [];
    const release = departure.onLeft(() => told.push('released'));
    departure.onLeft(() => told.push('once'));
    release();
    client.destroy();
    await once(request.socket, 'close');
    departure.onLeft(() => told.push('later'));
    assert.deepEqual(told, ['once', 'later']);
    const late = new Departure(request, response);
    assert.ok(late.left, 'a watch that begins after the end');
  });

  it('is not gone once its answer has been sent', async (t) => {
    const { client, watched } = await watch(t);
    const { request, response, departure } = watched[0]!;
    response.end('ok');
    await client.reply();
    client.destroy();
    await once(request.socket, 'close');
    assert.ok(!departure.left);
  });
});
