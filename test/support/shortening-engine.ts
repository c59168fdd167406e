// An engine that reads the newest message of a chat only and says nothing of it: what some servers do with what does not
// fit. Everything else, the counts too, is the real engine's behind it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ShorteningEngine {
  readonly url: string;
  close(): Promise<void>;
}

export async function shorteningEngine(engine: string): Promise<ShorteningEngine> {
  const server = createServer((request, response) => {
    void pass(engine, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function pass(engine: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/';
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const sent = path === '/v1/chat/completions' ? newestMessageOnly(body) : body;
  const reply = await fetch(engine + path, {
    method: request.method ?? 'GET',
    headers: { 'content-type': 'application/json' },
    ...(sent.length > 0 && { body: new Uint8Array(sent) }),
  });
  response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
  response.end(Buffer.from(await reply.arrayBuffer()));
}

function newestMessageOnly(body: Buffer): Buffer {
  const chat = JSON.parse(body.toString()) as { messages: unknown[] };
  return Buffer.from(JSON.stringify({ ...chat, messages: chat.messages.slice(-1) }));
}
