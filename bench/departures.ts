// How long an engine works on after its clients have left: 100 streams, all given up in one turn of their program, or one
// per turn. Clients, proxy and engine are processes of their own; the proxy is the compiled one that is shipped.
// Run: npm run bench -- departures [rounds]
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { printTable, quantile } from './statistics.ts';

const clients = 100;

/** Milliseconds on a clock that all processes of the machine share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tell(message: unknown): void {
  process.send?.(message);
}

function start(role: string, ...rest: string[]): ChildProcess {
  return fork(import.meta.filename, [role, ...rest]);
}

async function said(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown];
  return message;
}

/** An engine that begins every reply and ends none; says when each of its requests is over. */
async function beEngine(): Promise<void> {
  let over: [string, number][] = [];
  const server = createServer((incoming, response) => {
    if (incoming.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const client = String(incoming.headers['x-client']);
    incoming.resume();
    incoming.socket.once('close', () => {
      over.push([client, now()]);
      if (over.length < clients) return;
      tell(over);
      over = [];
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  tell(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

async function openStream(url: string, client: number): Promise<ClientRequest> {
  const outgoing = request(`${url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'x-client': String(client) },
  });
  outgoing.on('error', () => undefined);
  outgoing.end('{"stream":true,"messages":[{"role":"user","content":"Hi"}]}');
  const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
  reply.on('error', () => undefined);
  await once(reply, 'data');
  return outgoing;
}

async function beClients(url: string, together: boolean): Promise<void> {
  const streams = await Promise.all(Array.from({ length: clients }, (_, client) => openStream(url, client)));
  const left: [string, number][] = [];
  for (const [client, stream] of streams.entries()) {
    left.push([String(client), now()]);
    stream.destroy();
    if (!together) await nextTurn();
  }
  tell(left);
}

async function startProxy(upstream: string): Promise<{ child: ChildProcess; url: string }> {
  const listen = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];
  const child = spawn(process.execPath, ['dist/cli.js', 'serve', '--upstream', upstream, ...listen], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"listen":"([^"]+)"/.exec(line)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error('the proxy ended before it listened');
}

async function leave(engine: ChildProcess, url: string, way: string): Promise<number[]> {
  const overSaid = said(engine);
  const leaving = start('clients', url, way);
  const left = new Map((await said(leaving)) as [string, number][]);
  const over = (await overSaid) as [string, number][];
  return over.map(([client, at]) => at - (left.get(client) ?? Number.NaN));
}

const [role = '5', target = '', way = ''] = process.argv.slice(2);
if (role === 'engine') await beEngine();
else if (role === 'clients') {
  await beClients(target, way === 'together');
  process.disconnect();
} else {
  const engine = start('engine');
  const upstream = (await said(engine)) as string;
  const proxy = await startProxy(upstream);
  const ways = { 'through the proxy': proxy.url, 'to the engine itself': upstream };
  const times = new Map<string, number[][]>();
  for (let round = 0; round < Number(role); round += 1) {
    for (const [name, url] of Object.entries(ways)) {
      for (const how of ['together', 'one per turn']) {
        const key = `${how}, ${name}`;
        times.set(key, [...(times.get(key) ?? []), await leave(engine, url, how)]);
      }
    }
  }
  const middle = (rounds: readonly number[][], share: number): string =>
    quantile(
      rounds.map((round) => quantile(round, share)),
      0.5,
    ).toFixed(1);
  printTable(
    [`${clients} clients that leave`, 'p50 ms', 'p99 ms', 'worst round p99'],
    [...times].map(([name, rounds]) => [
      name,
      middle(rounds, 0.5),
      middle(rounds, 0.99),
      Math.max(...rounds.map((round) => quantile(round, 0.99))).toFixed(1),
    ]),
  );
  proxy.child.kill();
  engine.kill();
}
