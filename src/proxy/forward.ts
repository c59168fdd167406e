/**
 * Sends one request to the engine and gives back its reply as it comes: the only caller of undici.
 * Never retries a request that an engine may have seen, never sets a time limit on its work, adds no header of its own
 * (only the key that an operator wants added).
 */
import { Client, Pool, type Dispatcher } from 'undici';
import type { Readable } from 'node:stream';
import { clientGone, type Departure } from './client-departure.ts';
import { endToEnd, firstValue, type RawHeaders } from './raw-headers.ts';
import { UpstreamTalk, type UpstreamReply } from './upstream-reply.ts';
import type { Upstream } from './upstream.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query as the client sent them, without the upstream's base path. */
  readonly target: string;
  /** The client's own, hop-by-hop fields included: they are taken out here. */
  readonly headers: RawHeaders;
  readonly body: Buffer | Readable | undefined;
  /** Ends the request upstream at once, in whatever state it is. */
  readonly departure: Departure;
}

/** Largest head of a request or reply, in bytes. */
export const maxHeadBytes = 64 * 1024;

const clientOptions = {
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: maxHeadBytes,
} as const;

/** Host is the upstream's; node has already answered Expect; a buffer's length is written by undici. */
const droppedAlways: ReadonlySet<string> = new Set(['host', 'expect']);
const droppedWithBuffer: ReadonlySet<string> = new Set([...droppedAlways, 'content-length']);

/** A reused connection that the engine closed while the request was on its way. */
function isStaleConnection(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/** Fields by which an engine knows a client; one of them is enough. */
function carriesCredentials(headers: RawHeaders): boolean {
  return firstValue(headers, 'authorization') !== '' || firstValue(headers, 'x-api-key') !== '';
}

export class Forwarder {
  readonly #upstream: Upstream;
  readonly #reused: Pool;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    this.#reused = new Pool(upstream.origin, {
      ...clientOptions,
      connect: upstream.connect,
      connections: 128,
    });
  }

  /**
   * Sends on a connection of its own, closed with the reply: engines close idle connections, and every connection
   * after some requests, at moments that a client can't see; a request lost to that could not be sent again.
   * @throws the connection's error, or `clientGone`.
   */
  async send(request: UpstreamRequest): Promise<UpstreamReply> {
    if (request.departure.left) throw clientGone;
    const client = new Client(this.#upstream.origin, {
      ...clientOptions,
      connect: this.#upstream.connect,
      pipelining: 0,
    });
    const close = (reason: Error | null): void => {
      release();
      client.destroy(reason).catch(() => undefined);
    };
    // destroy() also ends an attempt to connect, which cancelling the request does not.
    const release = request.departure.onLeft(() => {
      close(clientGone);
    });
    return this.#dispatch(client, request, () => {
      close(null);
    }).reply;
  }

  /**
   * Sends a request without a body that only reads (GET, HEAD, OPTIONS) on a connection that is kept for the next one.
   * If the engine closes it before any answer, the request is sent once more, on a connection of its own.
   */
  async sendReadOnly(request: UpstreamRequest): Promise<UpstreamReply> {
    if (request.departure.left) throw clientGone;
    let release = (): void => undefined;
    const talk = this.#dispatch(this.#reused, request, () => {
      release();
    });
    release = request.departure.onLeft(() => {
      talk.cancel(clientGone);
    });
    try {
      return await talk.reply;
    } catch (error) {
      if (error === clientGone || !isStaleConnection(error)) throw error;
      return this.send(request);
    }
  }

  async close(): Promise<void> {
    await this.#reused.destroy();
  }

  /** What undici can't send at all is told by the talk, like every other failure. */
  #dispatch(dispatcher: Dispatcher, request: UpstreamRequest, onOver: () => void): UpstreamTalk {
    const { body } = request;
    const headers = endToEnd(
      request.headers,
      Buffer.isBuffer(body) && body.length > 0 ? droppedWithBuffer : droppedAlways,
    );
    const { injectedKey } = this.#upstream;
    if (injectedKey !== undefined && !carriesCredentials(headers)) {
      headers.push('Authorization', `Bearer ${injectedKey}`);
    }
    const talk = new UpstreamTalk(body, onOver);
    dispatcher.dispatch(
      {
        path: this.#upstream.basePath + request.target,
        method: request.method,
        headers,
        body: body ?? null,
      },
      talk,
    );
    return talk;
  }
}
