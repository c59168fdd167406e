// The event loop's lag while bodies of up to 64 MiB pass: how long anything else in the process has to wait.
// The sender is a process of its own. Run: npm run bench -- event-loop [bodies]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { startDemoEngine } from '../src/demo/engine.ts';
import { proxy } from '../test/support/proxied-engine.ts';
import { printTable } from './statistics.ts';

const MiB = 1024 * 1024;
const shapes: Record<string, () => string> = {
  'one ASCII prompt': () => JSON.stringify({ prompt: 'lorem ipsum '.repeat((60 * MiB) / 12) }),
  'one two-byte prompt': () => JSON.stringify({ prompt: 'лорем ипсум '.repeat((60 * MiB) / 22) }),
  'a chat of 70,000 messages': () =>
    JSON.stringify({
      messages: Array.from({ length: 70_000 }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: `${index} ${'lorem ipsum dolor '.repeat(46)}`,
      })),
    }),
  'a chat with a 60 MiB image': () =>
    JSON.stringify({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            {
              type: 'image_url',
              image_url: { url: `data:image/png;base64,${'iVBORw0K'.repeat((60 * MiB) / 8)}` },
            },
          ],
        },
      ],
    }),
};

if (process.argv[2] === 'send') {
  const [, , , url = '', shape = '', count = '1'] = process.argv;
  const body = Buffer.from(shapes[shape]?.() ?? '');
  const path = shape.startsWith('one') ? '/completion' : '/v1/chat/completions';
  for (let sent = 0; sent < Number(count); sent += 1) {
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await reply.arrayBuffer();
    process.send?.(reply.headers.get('tokenweir-inspection'));
  }
} else {
  const bodies = Number(process.argv[2] ?? 5);
  // An engine's answers without an engine's work: facts and rendering of the demo, large bodies swallowed.
  const demo = await startDemoEngine();
  const swallow = createServer((request, response) => {
    const large = Number(request.headers['content-length'] ?? 0) > MiB;
    if (large) {
      request
        .resume()
        .on('end', () => response.writeHead(400).end('{"error":{"code":400,"message":"too long"}}'));
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const method = request.method ?? 'GET';
      void fetch(demo.url + (request.url ?? ''), {
        method,
        ...(method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
      }).then(async (answer) =>
        response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer())),
      );
    });
  });
  swallow.listen(0, '127.0.0.1');
  await once(swallow, 'listening');
  const subject = await proxy(`http://127.0.0.1:${(swallow.address() as AddressInfo).port}`, {
    INSPECTION_BUDGET_MS: '100',
    LOG_LEVEL: 'silent',
  });
  const rows: string[][] = [];
  for (const shape of Object.keys(shapes)) {
    const lag = monitorEventLoopDelay({ resolution: 5 });
    const child = fork(import.meta.filename, ['send', subject.url, shape, String(bodies)]);
    const results: string[] = [];
    child.on('message', (result) =>
      results.push(typeof result === 'string' ? result : JSON.stringify(result)),
    );
    lag.enable();
    await once(child, 'exit');
    lag.disable();
    const ms = (nanoseconds: number): string => (nanoseconds / 1e6).toFixed(1);
    rows.push([
      shape,
      ms(lag.percentile(50)),
      ms(lag.percentile(99)),
      ms(lag.max),
      [...new Set(results)].join(', '),
    ]);
  }
  printTable(['64 MiB bodies', 'lag p50 ms', 'lag p99 ms', 'max ms', 'inspection'], rows);
  await subject.close();
  await demo.close();
  swallow.close();
}
