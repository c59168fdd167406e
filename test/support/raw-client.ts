/** A client on a bare socket: sends exactly the bytes it is given and shows exactly the bytes it got. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MessageReader, type HttpMessage } from './http-message.ts';

export class RawClient {
  readonly socket: Socket;
  readonly #reader: MessageReader;
  readonly #received: Buffer[] = [];
  /** Resolves true if the connection was closed with an error (a reset), false for a clean end. */
  readonly closed: Promise<boolean>;
  #isClosed = false;
  readonly #changed = new EventTarget();

  constructor(socket: Socket, bodyless: boolean) {
    this.socket = socket;
    this.#reader = new MessageReader(
      'response',
      (line) => bodyless || /^HTTP\/1\.\d (1\d\d|204|304)/.test(line),
    );
    socket.on('data', (chunk: Buffer) => {
      this.#received.push(chunk);
      this.#reader.push(chunk);
      this.#changed.dispatchEvent(new Event('change'));
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', (hadError) => {
        this.#isClosed = true;
        this.#changed.dispatchEvent(new Event('change'));
        resolve(hadError);
      });
    });
  }

  /** All bytes so far. */
  get received(): Buffer {
    return Buffer.concat(this.#received);
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** The next complete reply. @throws if the connection closes before it is complete. */
  async reply(): Promise<HttpMessage> {
    return this.#until(() => this.#reader.next(this.#isClosed));
  }

  /** The head of the reply under way. */
  head(): Promise<Omit<HttpMessage, 'body'>> {
    return this.#until(() => this.#reader.head);
  }

  /** Waits until these bytes have come. */
  async saw(text: string | Buffer): Promise<void> {
    await this.#until(() => (this.received.includes(text) ? true : undefined));
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #until<T>(read: () => T | undefined): Promise<T> {
    for (;;) {
      const value = read();
      if (value !== undefined) return value;
      if (this.#isClosed)
        throw new Error(`closed after ${JSON.stringify(this.received.toString('latin1').slice(0, 400))}`);
      await once(this.#changed, 'change');
    }
  }
}

/** Opens a connection. `bodyless` for replies to HEAD. */
export async function openClient(port: number, options: { bodyless?: boolean } = {}): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return new RawClient(socket, options.bodyless ?? false);
}

/** Sends one request and gives back its reply; the connection is closed. */
export async function exchangeBytes(port: number, bytes: string | Buffer): Promise<HttpMessage> {
  const bodyless = bytes.toString('latin1').startsWith('HEAD ');
  const client = await openClient(port, { bodyless });
  client.send(bytes);
  try {
    return await client.reply();
  } finally {
    client.destroy();
    await client.closed;
  }
}

/** A POST with a JSON body, head and body as bytes. */
export function post(
  path: string,
  body: string | Buffer,
  headers = 'Content-Type: application/json',
): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: proxy\r\n${headers === '' ? '' : `${headers}\r\n`}Content-Length: ${bytes.length}\r\n\r\n`,
      'latin1',
    ),
    bytes,
  ]);
}

export function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: proxy\r\n${headers === '' ? '' : `${headers}\r\n`}\r\n`;
}
