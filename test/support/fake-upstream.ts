/**
 * A scriptable engine on a bare socket: records the exact bytes of what it is sent and answers exactly the bytes that
 * a test writes. It knows no HTTP library, so none can repair or hide a difference.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { MessageReader, type HttpMessage } from './http-message.ts';

/** One request as the upstream saw it, and the socket to answer on. */
export class UpstreamExchange {
  readonly request: HttpMessage;
  readonly socket: Socket;
  /** Number of the connection, from 0. */
  readonly connection: number;
  /** Resolves with the time (`performance.now()`) at which the proxy closed the connection. */
  readonly closed: Promise<number>;

  constructor(request: HttpMessage, socket: Socket, connection: number, closed: Promise<number>) {
    this.request = request;
    this.socket = socket;
    this.connection = connection;
    this.closed = closed;
  }

  get method(): string {
    return this.request.startLine.split(' ')[0] ?? '';
  }
  get target(): string {
    return this.request.startLine.split(' ')[1] ?? '';
  }

  /** Writes bytes; resolves when the socket takes more. */
  async write(bytes: string | Buffer): Promise<void> {
    if (this.socket.write(bytes) || this.socket.destroyed) return;
    const settled = new AbortController();
    const options = { signal: settled.signal };
    await Promise.race([once(this.socket, 'drain', options), once(this.socket, 'close', options)]);
    settled.abort();
  }

  /** Answers with a body of known length. */
  async reply(status: string, headers: string, body: string | Buffer): Promise<void> {
    const bytes = Buffer.from(body);
    const lines = headers === '' ? '' : `${headers}\r\n`;
    await this.write(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 ${status}\r\n${lines}Content-Length: ${bytes.length}\r\n\r\n`),
        bytes,
      ]),
    );
  }

  /** Starts a chunked answer. */
  startChunked(status: string, headers: string): Promise<void> {
    return this.write(`HTTP/1.1 ${status}\r\n${headers}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  }
  chunk(bytes: string | Buffer): Promise<void> {
    const data = Buffer.from(bytes);
    return this.write(
      Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]),
    );
  }
  endChunked(): Promise<void> {
    return this.write('0\r\n\r\n');
  }
}

export type Answer = (exchange: UpstreamExchange) => void | Promise<void>;

export interface FakeUpstreamOptions {
  /** Answer when the head is there, without waiting for the body. @defaultValue 'body' */
  readonly answerAt?: 'head' | 'body';
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Listen on this unix socket instead of a port. */
  readonly socketPath?: string;
  /** Called for every connection, e.g. to close it after some time. */
  readonly onConnection?: (socket: Socket) => void;
}

export interface FakeUpstream {
  readonly url: string;
  readonly port: number;
  /** Every request that came in, in order of arrival. */
  readonly exchanges: readonly UpstreamExchange[];
  readonly connections: number;
  readonly openSockets: number;
  /** The exchange with this number, as soon as it is there. */
  exchange(index: number): Promise<UpstreamExchange>;
  answerWith(answer: Answer): void;
  close(): Promise<void>;
}

/** Plain answer for tests that look at the request only. */
export const answerOk: Answer = (exchange) =>
  exchange.reply('200 OK', 'Content-Type: application/json', '{"ok":true}');

export async function startUpstream(
  answer: Answer,
  options: FakeUpstreamOptions = {},
): Promise<FakeUpstream> {
  const exchanges: UpstreamExchange[] = [];
  const waiting: { index: number; resolve: (exchange: UpstreamExchange) => void }[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let current = answer;

  function accept(socket: Socket): void {
    const connection = connections++;
    sockets.add(socket);
    const closed = new Promise<number>((resolve) => {
      socket.once('close', () => {
        resolve(performance.now());
      });
    });
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    options.onConnection?.(socket);
    serve(socket, connection, closed);
  }

  function serve(socket: Socket, connection: number, closed: Promise<number>): void {
    const reader = new MessageReader('request');
    let announced = false;
    const announce = (request: HttpMessage): void => {
      const exchange = new UpstreamExchange(request, socket, connection, closed);
      exchanges.push(exchange);
      for (const waiter of waiting.filter(({ index }) => index === exchanges.length - 1))
        waiter.resolve(exchange);
      void Promise.resolve(current(exchange)).catch((error: unknown) => socket.destroy(error as Error));
    };
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      for (let message = reader.next(); message; message = reader.next()) {
        if (!announced) announce(message);
        announced = false;
      }
      if (options.answerAt === 'head' && reader.head && !announced) {
        announced = true;
        announce({ ...reader.head, body: reader.body });
      }
    });
  }

  const server: Server = options.tls ? createTlsServer(options.tls, accept) : createServer(accept);
  server.listen(options.socketPath ?? { port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const port = options.socketPath === undefined ? (server.address() as AddressInfo).port : 0;

  return {
    port,
    url: options.socketPath
      ? `unix:${options.socketPath}`
      : `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    exchanges,
    get connections() {
      return connections;
    },
    get openSockets() {
      return sockets.size;
    },
    exchange: (index) => {
      const known = exchanges[index];
      return known ? Promise.resolve(known) : new Promise((resolve) => waiting.push({ index, resolve }));
    },
    answerWith: (next) => {
      current = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
