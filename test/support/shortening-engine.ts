// An engine that reads the newest message of a chat only and says nothing of it: what some servers do with what does not
// fit. Everything else, the counts too, is the real engine's behind it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { localServer, type LocalServer } from './local-server.ts';

export function shorteningEngine(engine: string): Promise<LocalServer> {
  return localServer((request, response) => {
    void pass(engine, request, response);
  });
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
