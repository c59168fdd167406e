/**
 * Mounts @fastify/http-proxy for the routes that generate nothing: it routes, streams bodies and carries WebSockets;
 * requests go out by the same sender and header rules as everything else. Never reads a body.
 */
import { METHODS, type IncomingMessage } from 'node:http';
import { connect as connectTcp } from 'node:net';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { upstreamFailure } from './error-envelope.ts';
import type { Forwarder } from './forward.ts';
import { endToEnd } from './raw-headers.ts';
import { Untouched } from './untouched.ts';
import type { UpstreamReply } from './upstream-reply.ts';
import type { Upstream } from './upstream.ts';

type RequestCallback = (error: Error | null, reply: Dispatcher.ResponseData) => void;

/** The key under which a request rides along in its headers object to the sender; a symbol is never sent. */
const carried = Symbol('carried request');

interface Passage {
  readonly untouched: Untouched;
  /** Absent until the engine's reply head has come. */
  reply?: UpstreamReply;
}

/** Headers of a WebSocket handshake that each hop makes for itself. */
const handshakeHeaders = new Set([
  'host',
  'content-length',
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
]);

function handshakeHeadersOf(request: IncomingMessage): Record<string, string[]> {
  const kept: Record<string, string[]> = {};
  const raw = endToEnd(request.rawHeaders, handshakeHeaders);
  for (let at = 0; at + 1 < raw.length; at += 2) (kept[raw[at] ?? ''] ??= []).push(raw[at + 1] ?? '');
  return kept;
}

/** Every method that node parses, so that none is answered 404 by the router. */
function routableMethods(app: FastifyInstance): string[] {
  const methods = METHODS.filter((method) => method !== 'CONNECT');
  for (const method of methods) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  return methods;
}

/** Registers the catch-all routes. Must be awaited before the server listens. */
export async function mountPassThrough(
  app: FastifyInstance,
  forwarder: Forwarder,
  upstream: Upstream,
): Promise<void> {
  const passages = new WeakMap<IncomingMessage, Passage>();

  function request(options: Dispatcher.RequestOptions, callback: RequestCallback): void {
    const message: unknown = Reflect.get(options.headers ?? {}, carried);
    const passage = passages.get(message as IncomingMessage);
    if (!passage) {
      callback(new Error('a request reached the sender without its client'), {} as Dispatcher.ResponseData);
      return;
    }
    passage.untouched.send(forwarder).then(
      (reply) => {
        passage.reply = reply;
        // The plugin only hands this on to `onResponse`, which relays the reply itself.
        callback(null, { statusCode: reply.status, headers: {} } as Dispatcher.ResponseData);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), {} as Dispatcher.ResponseData);
      },
    );
  }

  await app.register(httpProxy, {
    upstream: upstream.origin + upstream.basePath,
    httpMethods: routableMethods(app),
    undici: { request: request as Dispatcher['request'] },
    // A 503 while the engine loads is the client's to see, once (the default sends up to ten more requests).
    retryMethods: [],
    internalRewriteLocationHeader: false,
    disableRequestLogging: true,
    // The plugin would log every client that leaves as a warning, with the upstream's address.
    logLevel: 'error',
    replyOptions: {
      rewriteRequestHeaders: (fastifyRequest, headers) => {
        const message = (fastifyRequest as FastifyRequest).raw;
        return Object.assign(headers, { [carried]: message });
      },
      onResponse: (fastifyRequest, reply) => {
        const passage = passages.get((fastifyRequest as FastifyRequest).raw);
        reply.hijack();
        if (passage?.reply) void passage.untouched.relay(passage.reply);
      },
      onError: (reply, { error }) => {
        const passage = passages.get((reply.request as FastifyRequest).raw);
        reply.hijack();
        passage?.untouched.fail(upstreamFailure(error.cause ?? error));
      },
    },
    preHandler: (fastifyRequest, reply, done) => {
      passages.set(fastifyRequest.raw, { untouched: new Untouched(fastifyRequest.raw, reply.raw) });
      done();
    },
    websocket: true,
    wsServerOptions: { perMessageDeflate: false, maxPayload: 0 },
    wsClientOptions: webSocketOptions(upstream),
  });
}

/** What the plugin's WebSocket client is told; its own default forwards no header but the cookie. */
function webSocketOptions(
  upstream: Upstream,
): NonNullable<httpProxy.FastifyHttpProxyOptions['wsClientOptions']> {
  const options = {
    ...upstream.tls,
    perMessageDeflate: false,
    maxPayload: 0,
    rewriteRequestHeaders: (_headers: unknown, request: FastifyRequest) => handshakeHeadersOf(request.raw),
    ...(upstream.socketPath === '' ? {} : { createConnection: () => connectTcp(upstream.socketPath) }),
  };
  return options;
}
