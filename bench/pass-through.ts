// Requests per second on a route that generates nothing, against bare @fastify/http-proxy in front of the same upstream.
// The load comes from a process of its own (wrk where there is one, else a loop of this file's).
// Run: npm run bench -- pass-through [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import httpProxy from '@fastify/http-proxy';
import Fastify from 'fastify';
import { Pool } from 'undici';

import { proxy } from '../test/support/proxied-engine.ts';
import { median } from './statistics.ts';

const concurrency = 32;
const requests = 6000;

if (process.argv[2] === 'load') {
  const url = new URL(process.argv[3] ?? '');
  const pool = new Pool(url.origin, { connections: concurrency });
  const started = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (sent < requests) {
        sent += 1;
        const { body } = await pool.request({ path: url.pathname, method: 'GET' });
        await body.dump();
      }
    }),
  );
  process.send?.(requests / ((performance.now() - started) / 1000));
  await pool.close();
} else {
  const rounds = Number(process.argv[2] ?? 7);
  const upstream = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}');
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;

  const bare = Fastify({ logger: false });
  await bare.register(httpProxy, { upstream: origin });
  const bareUrl = await bare.listen({ port: 0, host: '127.0.0.1' });
  const subject = await proxy(origin, { LOG_LEVEL: 'silent' });

  const load = async (url: string): Promise<number> => {
    const child = fork(import.meta.filename, ['load', `${url}/v1/models`]);
    const [rate] = (await once(child, 'message')) as [number];
    return rate;
  };
  const rates = { bare: [] as number[], tokenweir: [] as number[] };
  await load(bareUrl);
  await load(subject.url);
  for (let round = 0; round < rounds; round += 1) {
    rates.bare.push(await load(bareUrl));
    rates.tokenweir.push(await load(subject.url));
  }
  console.log(`bare @fastify/http-proxy  ${median(rates.bare).toFixed(0)} requests/s (median of ${rounds})`);
  console.log(`tokenweir, pass-through   ${median(rates.tokenweir).toFixed(0)} requests/s`);
  console.log(
    `ratio                     ${(median(rates.tokenweir) / median(rates.bare)).toFixed(3)}   (floor 0.9)`,
  );
  await subject.close();
  await bare.close();
  upstream.close();
}
