// A relay between the proxy and the engine that counts what is asked: tokens that /tokenize answered, and calls by path.
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

export interface CountingRelay {
  readonly url: string;
  /** Calls by path since the last reset. */
  readonly calls: Map<string, number>;
  /** Tokens in answers of /tokenize since the last reset, separators left out. */
  tokens(): number;
  /** Milliseconds to hold every answer of a helper endpoint back. */
  delayMs: number;
  reset(): void;
  close(): Promise<void>;
}

export async function startCountingRelay(upstream: string): Promise<CountingRelay> {
  const calls = new Map<string, number>();
  let tokens = 0;
  const { hostname, port } = new URL(upstream);
  const relay: CountingRelay = {
    url: '',
    calls,
    tokens: () => tokens,
    delayMs: 0,
    reset: () => {
      calls.clear();
      tokens = 0;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((incoming, response) => {
    const path = (incoming.url ?? '').replace(/\?.*/, '');
    calls.set(path, (calls.get(path) ?? 0) + 1);
    const { url = '/', method = 'GET', rawHeaders } = incoming;
    const outgoing = forward({ hostname, port, path: url, method, headers: rawHeaders }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      if (path !== '/tokenize') {
        void pipeline(answer, response).catch(() => undefined);
        return;
      }
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        const { tokens: ids = [] } = JSON.parse(body.toString()) as { tokens?: number[] };
        tokens += ids.filter((id) => id !== -1).length;
        setTimeout(() => response.end(body), relay.delayMs);
      });
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    void pipeline(incoming, outgoing).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address() as AddressInfo;
  return Object.assign(relay, { url: `http://127.0.0.1:${at.port}` });
}
