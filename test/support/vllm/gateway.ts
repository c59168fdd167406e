// A gateway before an engine, as operators put there: it hands most paths on and answers some of them itself.
import { request as ask } from 'node:http';
import { localServer, type LocalServer } from '../local-server.ts';
import type { Answer } from './stand-in.ts';

export interface Gateway extends LocalServer {
  /** Method and path of every request so far. */
  readonly asked: readonly string[];
  /** From now on answers these paths itself, and no others. */
  block(paths: RegExp | undefined, answer?: Answer): void;
}

const notFound: Answer = { status: 404, text: '{"detail":"Not Found"}' };

/** @param engine its URL; bodies pass as they are, in both directions */
export async function gatewayTo(engine: string): Promise<Gateway> {
  const asked: string[] = [];
  let blocked: { readonly paths: RegExp; readonly answer: Answer } | undefined;
  const server = await localServer((request, response) => {
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
  return {
    ...server,
    asked,
    block: (paths, answer = notFound) => {
      blocked = paths === undefined ? undefined : { paths, answer };
    },
  };
}
