/**
 * Sends one request to the engine and gives back its reply as it comes: the only caller of undici.
 * Never retries a request that an engine may have seen, never sets a time limit on its work, adds no header of its own
 * (only the key that an operator wants added).
 */
import { Client, Pool, type Dispatcher } from 'undici';
import type { Readable } from 'node:stream';
import { endToEnd, firstValue, type RawHeaders } from './raw-headers.ts';
import type { Upstream } from './upstream.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query as the client sent them, without the upstream's base path. */
  readonly target: string;
  /** The client's own, hop-by-hop fields included: they are taken out here. */
  readonly headers: RawHeaders;
  readonly body: Buffer | Readable | undefined;
  /** Ends the request upstream at once, in whatever state it is. */
  readonly abandoned: AbortSignal;
}

export interface UpstreamReply {
  readonly status: number;
  /** Reason phrase as sent, bytes as latin1. */
  readonly statusText: string;
  readonly headers: RawHeaders;
  readonly body: Readable;
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
   * @throws the connection's error, or the signal's reason.
   */
  async send(request: UpstreamRequest): Promise<UpstreamReply> {
    request.abandoned.throwIfAborted();
    const client = new Client(this.#upstream.origin, {
      ...clientOptions,
      connect: this.#upstream.connect,
      pipelining: 0,
    });
    // destroy() also ends an attempt to connect, which undici's own signal does not.
    const close = (): void => {
      request.abandoned.removeEventListener('abort', close);
      const reason: unknown = request.abandoned.reason;
      client.destroy(reason instanceof Error ? reason : null).catch(() => undefined);
    };
    request.abandoned.addEventListener('abort', close);
    try {
      const reply = await this.#dispatch(client, request, null);
      reply.body.once('close', close);
      return reply;
    } catch (error) {
      close();
      throw error;
    }
  }

  /**
   * Sends a request without a body that only reads (GET, HEAD, OPTIONS) on a connection that is kept for the next one.
   * If the engine closes it before any answer, the request is sent once more, on a connection of its own.
   */
  async sendReadOnly(request: UpstreamRequest): Promise<UpstreamReply> {
    request.abandoned.throwIfAborted();
    try {
      return await this.#dispatch(this.#reused, request, request.abandoned);
    } catch (error) {
      if (request.abandoned.aborted || !isStaleConnection(error)) throw error;
      return this.send(request);
    }
  }

  async close(): Promise<void> {
    await this.#reused.destroy();
  }

  async #dispatch(
    dispatcher: Dispatcher,
    request: UpstreamRequest,
    signal: AbortSignal | null,
  ): Promise<UpstreamReply> {
    const { body } = request;
    const headers = endToEnd(
      request.headers,
      Buffer.isBuffer(body) && body.length > 0 ? droppedWithBuffer : droppedAlways,
    );
    const { injectedKey } = this.#upstream;
    if (injectedKey !== undefined && !carriesCredentials(headers)) {
      headers.push('Authorization', `Bearer ${injectedKey}`);
    }
    const reply = await dispatcher.request({
      path: this.#upstream.basePath + request.target,
      method: request.method,
      headers,
      body: body ?? null,
      signal,
      responseHeaders: 'raw',
    });
    // `responseHeaders: 'raw'` makes this a flat list; undici's types do not say so.
    const received: unknown = reply.headers;
    return {
      status: reply.statusCode,
      statusText: Buffer.from(reply.statusText).toString('latin1'),
      headers: Array.isArray(received) ? received.map(String) : [],
      body: reply.body,
    };
  }
}
