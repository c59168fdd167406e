// A gateway before an engine, as operators put there: it hands most paths on and answers some of them itself.
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from './stand-in.ts';

export interface Gateway {
  readonly url: string;
  /** Method and path of every request so far. */
  readonly asked: readonly string[];
  /** From now on answers these paths itself, and no others. */
  block(paths: RegExp | undefined, answer?: Answer): void;
  close(): Promise<void>;
}

const notFound: Answer = { status: 404, text: '{"detail":"Not Found"}' };

/** @param engine its URL; bodies pass as they are, in both directions */
export async function gatewayTo(engine: string): Promise<Gateway> {
  const asked: string[] = [];
  let blocked: { readonly paths: RegExp; readonly answer: Answer } | undefined;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(`${request.method ?? ''} ${path}`);
    if (blocked?.paths.test(path) === true) {
      request.resume();
      const { status, text } = blocked.answer;
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      return;
    }
    const { method = 'GET', headers } = request;
    const onward = ask(engine + path, { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    block: (paths, answer = notFound) => {
      blocked = paths === undefined ? undefined : { paths, answer };
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
