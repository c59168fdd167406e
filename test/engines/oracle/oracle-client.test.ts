import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, describe, it } from 'node:test';

import { mostAnswerBytes } from '../../../src/engines/oracle/bounded-answer.ts';
import { OracleClient, type OracleClientOptions } from '../../../src/engines/oracle/oracle-client.ts';

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function clientOf(listener: RequestListener, options: Partial<OracleClientOptions> = {}) {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const results: string[] = [];
  const client = new OracleClient({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    basePath: '',
    tls: { rejectUnauthorized: true },
    concurrency: () => 2,
    timeoutMs: () => 5000,
    onAnswer: (oracle, result) => results.push(`${oracle} ${result}`),
    ...options,
  });
  closers.push(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { client, server, results };
}

const props = { oracle: 'props', method: 'GET', path: '/props', credentials: {} } as const;

describe('OracleClient', () => {
  it('sends the credentials it was given, and none of its own', async () => {
    const seen: unknown[] = [];
    const { client } = await clientOf((request, response) => {
      seen.push([request.headers.authorization, request.headers['x-api-key']]);
      response.end('{}');
    });
    await client.ask(props);
    await client.ask({ ...props, credentials: { authorization: 'Bearer one' } });
    assert.deepEqual(seen, [
      [undefined, undefined],
      ['Bearer one', undefined],
    ]);
  });

  for (const [status, body, reason] of [
    [401, '{"error":{}}', 'oracle-refused'],
    [401, '<html>', 'oracle-refused'],
    [413, '<html>', 'oracle-refused'],
    [429, '<html>', 'engine-busy'],
    [429, '{"error":{}}', 'engine-busy'],
    [529, '{"error":{}}', 'engine-busy'],
    [400, '{"error":{}}', 'oracle-refused'],
    [500, '{"error":{}}', 'oracle-error'],
    [500, '<html>', 'oracle-error'],
    [503, '{"error":{}}', 'engine-loading'],
    [503, '<html>', 'engine-loading'],
    [200, '<html>', 'oracle-error'],
  ] as const) {
    it(`answers ${status} ${body} as ${reason}`, async () => {
      const { client } = await clientOf((_, response) => response.writeHead(status).end(body));
      const answer = await client.ask(props);
      assert.equal(answer.known, false);
      assert.equal(answer.reason, reason);
    });
  }

  for (const asked of ['GET', 'POST'] as const) {
    it(`reads no answer without end (${asked}): it is unknown, and the connection is closed`, async () => {
      let sent = 0;
      let ended = 0;
      const closing: Promise<unknown>[] = [];
      const chunk = Buffer.alloc(1024 * 1024, '[');
      const { client } = await clientOf(
        (_, response) => {
          closing.push(once(response, 'close'));
          const more = (): void => {
            while (!response.destroyed) {
              sent += chunk.length;
              if (!response.write(chunk)) return;
            }
          };
          response.on('drain', more).on('close', () => (ended += 1));
          more();
        },
        { timeoutMs: () => 60_000 },
      );
      const body = asked === 'POST' ? { body: 'x'.repeat(1024 * 1024) } : {};
      const most = mostAnswerBytes(body.body);
      const answer = await client.ask({ ...props, method: asked, ...body });
      assert.deepEqual(answer, { known: false, reason: 'answer-too-large', status: 200 });
      await closing[0];
      assert.equal(ended, 1, 'it is not asked again');
      assert.ok(sent >= most, 'what may be an answer is read');
      // What stands in the buffers of both ends beside.
      assert.ok(sent < most + 64 * 1024 * 1024, `${sent} bytes were sent`);
    });
  }

  it('tells that a connection ended, but not of one that it ended itself while another stands', async () => {
    const held: (() => void)[] = [];
    const { client, server } = await clientOf((request, response) => {
      if (request.url === '/held') held.push(() => response.end('{}'));
      // Of which undici leaves a second, against races.
      else response.setHeader('keep-alive', 'timeout=3').end('{}');
    });
    let told = 0;
    client.onDisconnect(() => (told += 1));
    const standing = client.ask({ ...props, path: '/held' });
    await once(server, 'request');

    const idle = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
    await client.ask(props);
    await idle;
    assert.equal(told, 0, 'it was idle');

    const leaving = new AbortController();
    const left = client.ask({ ...props, path: '/held', signal: leaving.signal });
    await once(server, 'request');
    leaving.abort();
    await left;
    assert.equal(told, 0, 'nobody waited for its answer');

    held[0]?.();
    await standing;
    server.closeAllConnections();
    await client.ask(props);
    assert.equal(told, 1, 'the engine ended it');
  });

  it('gives up at its deadline, and the engine sees the connection close', async () => {
    const closing: Promise<unknown>[] = [];
    const { client, results } = await clientOf((_, response) => void closing.push(once(response, 'close')), {
      timeoutMs: () => 50,
    });
    const answer = await client.ask(props);
    assert.equal(!answer.known && answer.reason, 'oracle-timeout');
    assert.equal(closing.length, 1);
    await closing[0];
    assert.deepEqual(results, ['props timeout']);
  });

  it('ends early with the signal of who asked', async () => {
    const { client } = await clientOf(() => undefined);
    const left = new AbortController();
    const asked = client.ask({ ...props, signal: left.signal });
    left.abort();
    const answer = await asked;
    assert.equal(!answer.known && answer.reason, 'budget-exhausted');
  });

  it('never has more calls under way than its cap', async () => {
    let running = 0;
    let most = 0;
    const { client } = await clientOf((_, response) => {
      running += 1;
      most = Math.max(most, running);
      setImmediate(() => {
        running -= 1;
        response.end('{}');
      });
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.ask(props)));
    assert.ok(answers.every((answer) => answer.known));
    assert.equal(most, 2);
  });

  it('a caller that gave up its place in the queue blocks nobody behind it', async () => {
    const held: (() => void)[] = [];
    const { client } = await clientOf((_, response) => held.push(() => response.end('{}')), {
      concurrency: () => 1,
    });
    const first = client.ask(props);
    const left = new AbortController();
    const second = client.ask({ ...props, signal: left.signal });
    const third = client.ask(props);
    left.abort();
    assert.equal((await second).known, false);
    while (held.length < 1) await new Promise(setImmediate);
    held[0]?.();
    assert.equal((await first).known, true);
    while (held.length < 2) await new Promise(setImmediate);
    held[1]?.();
    assert.equal((await third).known, true);
  });

  it('asks again once where the engine closed a kept-alive socket', async () => {
    let calls = 0;
    const { client } = await clientOf((request, response) => {
      calls += 1;
      if (calls === 2) request.socket.destroy();
      else response.end('{}');
    });
    assert.equal((await client.ask(props)).known, true);
    assert.equal((await client.ask(props)).known, true);
    assert.equal(calls, 3);
  });

  it('stops asking an engine that is down, and asks at once when it is known to be back', async () => {
    const events: boolean[] = [];
    const { client, server, results } = await clientOf((_, response) => response.end('{}'), {
      onUnavailable: (unavailable) => events.push(unavailable),
    });
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    for (let call = 0; call < 6; call += 1) await client.ask(props);
    assert.equal(results.at(-1), 'props breaker-open');
    assert.deepEqual(events, [true]);
    client.reachable();
    assert.deepEqual(events, [true, false]);
    await client.ask(props);
    assert.equal(results.at(-1), 'props unreachable');
    server.listen(0);
    await once(server, 'listening');
  });
});
