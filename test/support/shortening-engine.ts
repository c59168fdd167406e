// Engines that read another chat than they were sent and say nothing of it: the newest message only, as some servers do with
// what does not fit, or what a test makes of it. Everything else, the counts too, is the real engine's behind it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { localServer, type LocalServer } from './local-server.ts';

interface Chat {
  readonly messages: readonly unknown[];
}

export function shorteningEngine(engine: string): Promise<LocalServer> {
  return changingEngine(engine, ({ messages }) => messages.slice(-1));
}

/** @param change what the engine reads in place of the messages */
export function changingEngine(
  engine: string,
  change: (chat: Chat) => readonly unknown[],
): Promise<LocalServer> {
  return localServer((request, response) => {
    void pass(engine, change, request, response);
  });
}

async function pass(
  engine: string,
  change: (chat: Chat) => readonly unknown[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? '/';
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const sent = path === '/v1/chat/completions' ? changed(body, change) : body;
  const reply = await fetch(engine + path, {
    method: request.method ?? 'GET',
    headers: { 'content-type': 'application/json' },
    ...(sent.length > 0 && { body: new Uint8Array(sent) }),
  });
  response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
  response.end(Buffer.from(await reply.arrayBuffer()));
}

function changed(body: Buffer, change: (chat: Chat) => readonly unknown[]): Buffer {
  const chat = JSON.parse(body.toString()) as Chat;
  return Buffer.from(JSON.stringify({ ...chat, messages: change(chat) }));
}
