// Stands between the product and a real engine: shows every request that reached the engine, and holds those to chosen
// paths until a test lets them go. Connections are its own, all else is carried as it came; it lies only where a test
// gives it the answer.
import { once } from 'node:events';
import {
  request as send,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import { localServer, type LocalServer } from './local-server.ts';

export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface Gate {
  /** Resolves when the first request waits at the gate. */
  readonly reached: Promise<void>;
  /** Lets all go that wait and all that come. Safe to call again. */
  open(): void;
}

export interface GatedEngine extends LocalServer {
  /** In order of arrival, held ones too. */
  readonly seen: readonly SeenRequest[];
  /** How many requests for this path came. */
  count(path: string): number;
  /** The bodies that the engine was sent on this path, in order. */
  bodies(path: string): readonly Buffer[];
  /** Requests for these paths wait from now on. */
  hold(...paths: readonly string[]): Gate;
  /** The same for this path, once that many more requests for it have passed. */
  holdAfter(passing: number, path: string): Gate;
  /** Requests for this path are answered with this JSON from now on, and do not reach the engine. */
  answer(path: string, json: object): void;
  /** Connections are closed in the middle of the reply to requests for this path, which do not reach the engine. */
  breakOff(path: string): void;
  /** Once that many more requests for other paths have passed, their connections are closed without a reply. */
  leaveAfter(passing: number, exceptFor: string): void;
  /** Once that many more requests have passed, the next one is answered with this and does not reach the engine. */
  answerOnceAfter(passing: number, answer: { readonly status: number; readonly text: string }): void;
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const ofOneConnection = ['connection', 'keep-alive'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofOneConnection.includes(name)));
}

/** @param engine the engine's URL, or a function that tells it anew for each request */
export async function gatedEngine(engine: string | (() => string)): Promise<GatedEngine> {
  const seen: SeenRequest[] = [];
  const gates: { readonly holds: (path: string) => boolean; readonly pass: () => Promise<void> }[] = [];
  const answers = new Map<string, object>();
  const broken = new Set<string>();
  let leaves: { left: number; readonly exceptFor: string } | undefined;
  let single: { left: number; readonly status: number; readonly text: string } | undefined;
  const carried: { readonly path: string; readonly chunks: Buffer[] }[] = [];
  const upstream = typeof engine === 'string' ? () => engine : engine;

  function addGate(holds: (path: string) => boolean): Gate {
    let arrive = (): void => undefined;
    let open = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    gates.push({
      holds,
      pass: () => {
        arrive();
        return opened;
      },
    });
    return {
      reached,
      open: () => {
        open();
      },
    };
  }

  async function carry(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: target = '/', headers } = incoming;
    const path = target.split('?', 1)[0] ?? '';
    seen.push({ method, path, target, headers });
    for (const gate of gates.filter(({ holds }) => holds(path))) await gate.pass();
    if (incoming.destroyed && !incoming.complete) return;
    if (leaves !== undefined && path !== leaves.exceptFor && (leaves.left -= 1) < 0) {
      response.destroy();
      return;
    }
    if (single !== undefined && (single.left -= 1) < 0) {
      const { status, text } = single;
      single = undefined;
      incoming.resume();
      response.writeHead(status).end(text);
      return;
    }
    if (broken.has(path)) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{"prompt":"', () => response.destroy());
      return;
    }
    const answer = answers.get(path);
    if (answer !== undefined) {
      incoming.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return;
    }
    // A connection each: engines close kept ones at moments of their own.
    const outgoing = send(upstream() + target, { method, headers: endToEnd(headers), agent: false });
    response.once('close', () => outgoing.destroy());
    const chunks: Buffer[] = [];
    carried.push({ path, chunks });
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    await pipeline(incoming, outgoing);
    const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.writeHead(reply.statusCode ?? 502, endToEnd(reply.headers));
    response.flushHeaders();
    await pipeline(reply, response);
  }

  const server = await localServer((incoming, response) => {
    // A client that leaves, or an engine that dies, ends the connection; the test sees that on its own side.
    carry(incoming, response).catch(() => response.destroy());
  });
  return {
    ...server,
    seen,
    count: (path) => seen.filter((request) => request.path === path).length,
    bodies: (path) => carried.filter((one) => one.path === path).map(({ chunks }) => Buffer.concat(chunks)),
    hold: (...paths) => addGate((path) => paths.includes(path)),
    holdAfter: (passing, held) => {
      let left = passing;
      return addGate((path) => path === held && (left -= 1) < 0);
    },
    answer: (path, json) => {
      answers.set(path, json);
    },
    breakOff: (path) => {
      broken.add(path);
    },
    leaveAfter: (passing, exceptFor) => {
      leaves = { left: passing, exceptFor };
    },
    answerOnceAfter: (passing, answer) => {
      single = { left: passing, ...answer };
    },
  };
}
