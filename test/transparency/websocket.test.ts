/** WebSockets pass through @fastify/http-proxy: messages unchanged, frames not (docs/transparency.md). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { WebSocket, WebSocketServer, type RawData } from 'ws';
import { answerOk } from '../support/fake-upstream.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();

const handshakes: IncomingMessage[] = [];
const echoHttp = createServer();
const echo = new WebSocketServer({ server: echoHttp });
echo.on('connection', (socket, request) => {
  handshakes.push(request);
  socket.on('message', (data, binary) => {
    socket.send(data, { binary });
  });
});
await once(echoHttp.listen(0, '127.0.0.1'), 'listening');
const echoUrl = `http://127.0.0.1:${(echoHttp.address() as AddressInfo).port}`;
const rig = await startRig(answerOk, { upstreamOptions: { url: `${echoUrl}/base` } });

after(async () => {
  await rig.close();
  for (const socket of echo.clients) socket.terminate();
  echo.close();
  await once(echoHttp.close(), 'close');
  await assertNoLeaks();
});

async function open(path: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, { headers });
  await once(socket, 'open');
  return socket;
}

describe('a WebSocket', () => {
  it('echoes text and binary messages, large ones included', async () => {
    const socket = await open('/v1/realtime?model=m');
    for (const message of ['hello \u20ac', Buffer.from([0, 255, 1]), Buffer.alloc(3 * 2 ** 20, 7)]) {
      const answer = once(socket, 'message');
      socket.send(message);
      const [data, binary] = (await answer) as [RawData, boolean];
      assert.equal(binary, Buffer.isBuffer(message));
      assert.deepEqual(data, Buffer.from(message));
    }
    socket.close();
    await once(socket, 'close');
  });

  it('opens upstream under the base path with the client\u2019s own headers', async () => {
    const at = handshakes.length;
    const socket = await open('/v1/realtime?model=m', { authorization: 'Bearer k', cookie: 'a=1' });
    const answer = once(socket, 'message');
    socket.send('x');
    await answer;
    const handshake = handshakes[at]!;
    assert.equal(handshake.url, '/base/v1/realtime?model=m');
    assert.equal(handshake.headers.authorization, 'Bearer k');
    assert.equal(handshake.headers.cookie, 'a=1');
    assert.equal(handshake.headers.host, new URL(echoUrl).host);
    socket.close();
    await once(socket, 'close');
  });

  it('that its client breaks off is closed upstream', async () => {
    const at = handshakes.length;
    const socket = await open('/v1/realtime');
    const answer = once(socket, 'message');
    socket.send('x');
    await answer;
    const closed = once(handshakes[at]!.socket, 'close');
    socket.terminate();
    await closed;
  });
});
