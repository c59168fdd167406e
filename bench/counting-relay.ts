// A relay between the proxy and the engine that counts what is asked: tokens that /tokenize answered, and calls by path.
// It is a process of its own, so that its work does not wait for the proxy's, nor the proxy's for it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

export interface CountingRelay {
  readonly url: string;
  /** Tokens in answers of /tokenize since the last call of this, separators left out. */
  takeTokens(): Promise<number>;
  close(): void;
}

export async function startCountingRelay(upstream: string): Promise<CountingRelay> {
  const child = fork(import.meta.filename, [upstream]);
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    takeTokens: async () => {
      child.send('take');
      const [tokens] = (await once(child, 'message')) as [number];
      return tokens;
    },
    close: () => {
      child.kill();
    },
  };
}

const [, script, upstream] = process.argv;
if (script === import.meta.filename && upstream !== undefined) {
  let tokens = 0;
  const { hostname, port } = new URL(upstream);
  const server = createServer((incoming, response) => {
    const { url = '/', method = 'GET', rawHeaders } = incoming;
    const outgoing = forward({ hostname, port, path: url, method, headers: rawHeaders }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      if (!url.startsWith('/tokenize')) {
        void pipeline(answer, response).catch(() => undefined);
        return;
      }
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        const { tokens: ids = [] } = JSON.parse(body.toString()) as { tokens?: number[] };
        tokens += ids.filter((id) => id !== -1).length;
        response.end(body);
      });
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    void pipeline(incoming, outgoing).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => {
    process.send?.(tokens);
    tokens = 0;
  });
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}
