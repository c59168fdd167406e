// Requests per second on a route that generates nothing, against bare @fastify/http-proxy in front of the same upstream.
// Upstream, load and each proxy are processes of their own; ours is the compiled one that is shipped.
// Run: npm run bench -- pass-through [rounds]
import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';

import httpProxy from '@fastify/http-proxy';
import Fastify from 'fastify';
import { Pool } from 'undici';

import { median } from './statistics.ts';

const concurrency = 32;
const requests = 6000;

/** Says over IPC what this process has to say. */
function tell(message: string | number): void {
  process.send?.(message);
}

/** This file again, in another role; resolves with what that process says first. */
async function start(role: string, ...rest: string[]): Promise<{ child: ChildProcess; said: unknown }> {
  const child = fork(import.meta.filename, [role, ...rest]);
  const [said] = (await once(child, 'message')) as [unknown];
  return { child, said };
}

const [role = '7', target = ''] = process.argv.slice(2);
switch (role) {
  case 'load': {
    const url = new URL(target);
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
    tell(requests / ((performance.now() - started) / 1000));
    await pool.close();
    process.disconnect();
    break;
  }
  case 'upstream': {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"status":"ok"}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    tell(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    break;
  }
  case 'bare': {
    const bare = Fastify({ logger: false });
    await bare.register(httpProxy, { upstream: target });
    tell(await bare.listen({ port: 0, host: '127.0.0.1' }));
    break;
  }
  case 'tokenweir': {
    const { loadConfig } = (await import(
      resolve('dist/config/load.js')
    )) as typeof import('../src/config/load.ts');
    const { createLogger } = (await import(
      resolve('dist/log/logger.js')
    )) as typeof import('../src/log/logger.ts');
    const { startServer } = (await import(resolve('dist/server.js'))) as typeof import('../src/server.ts');
    const env = {
      TOKENWEIR_UPSTREAM_URL: target,
      TOKENWEIR_LISTEN: '127.0.0.1:0',
      TOKENWEIR_ADMIN_LISTEN: '127.0.0.1:0',
    };
    const loaded = loadConfig({ flags: {}, env, cwd: '/nonexistent' });
    if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.errors));
    const { url } = await startServer({ loaded, logger: createLogger({ level: 'silent' }), cwd: '/' });
    tell(url);
    break;
  }
  default: {
    const rounds = Number(role);
    execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
    const upstream = await start('upstream');
    const bare = await start('bare', String(upstream.said));
    const subject = await start('tokenweir', String(upstream.said));
    const load = async (origin: unknown): Promise<number> =>
      Number((await start('load', `${String(origin)}/v1/models`)).said);
    const rates = { bare: [] as number[], tokenweir: [] as number[] };
    await load(bare.said);
    await load(subject.said);
    for (let round = 0; round < rounds; round += 1) {
      rates.bare.push(await load(bare.said));
      rates.tokenweir.push(await load(subject.said));
    }
    console.log(
      `bare @fastify/http-proxy  ${median(rates.bare).toFixed(0)} requests/s (median of ${rounds})`,
    );
    console.log(`tokenweir, pass-through   ${median(rates.tokenweir).toFixed(0)} requests/s`);
    console.log(
      `ratio                     ${(median(rates.tokenweir) / median(rates.bare)).toFixed(3)}   (floor 0.9)`,
    );
    for (const { child } of [upstream, bare, subject]) child.kill();
  }
}
