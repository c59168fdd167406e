/**
 * The public listener: accepts, decides which way each request goes, and ends in order. Holds no rule of its own about
 * bytes (forward, relay) or meaning (the inspector).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Inspector } from '../exchange/inspection.ts';
import { Forwarder, maxHeadBytes } from './forward.ts';
import { carryGeneration, type GenerationParts } from './generation.ts';
import { HeldBytes, type HoldLimits } from './hold-body.ts';
import { InFlight } from './in-flight.ts';
import { answerMalformed } from './malformed.ts';
import type { TransportMeter } from './meter.ts';
import { needsOwnSender } from './own-sender.ts';
import { mountPassThrough } from './pass-through.ts';
import { pathOf } from './request-target.ts';
import { carryUntouched } from './untouched.ts';
import { guardUpgrades, offersWebSocket } from './upgrade.ts';
import { resolveUpstream, type UpstreamOptions } from './upstream.ts';

export interface ProxyOptions {
  readonly upstream: UpstreamOptions;
  readonly inspector: Inspector;
  /** Asked once per request, so that a reload reaches new requests and leaves those under way alone. */
  readonly limits: () => HoldLimits;
  readonly logger: FastifyBaseLogger;
  readonly meter: TransportMeter;
}

export interface ProxyServer {
  /** Starts to accept; gives back where (port 0 is chosen by the system). */
  listen(at: { readonly host: string; readonly port: number }): Promise<AddressInfo>;
  /** Stops accepting, lets requests under way finish for at most `timeoutMs`, then cuts the rest off. */
  drain(timeoutMs: number): Promise<void>;
  /** Cuts everything off at once. */
  close(): Promise<void>;
}

/** An idle connection is kept longer than the minute that load balancers usually keep theirs. */
const keepAliveMs = 72_000;

function createApp(
  logger: FastifyBaseLogger,
  refused: (request: IncomingMessage, response: ServerResponse) => void,
) {
  // No line is ever written per request, so none needs a logger of its own; a route's `logLevel` is another's.
  const quieter = new Map<string, FastifyBaseLogger>();
  const atLevel = (level: string): FastifyBaseLogger => {
    const known = quieter.get(level) ?? logger.child({}, { level });
    quieter.set(level, known);
    return known;
  };
  return Fastify({
    loggerInstance: logger,
    childLoggerFactory: (parent, _bindings, { level }) => (level === undefined ? parent : atLevel(level)),
    logController: new LogController({ disableRequestLogging: true }),
    http: { maxHeaderSize: maxHeadBytes },
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    bodyLimit: Number.MAX_SAFE_INTEGER,
    routerOptions: { maxParamLength: maxHeadBytes },
    return503OnClosing: false,
    clientErrorHandler: answerMalformed,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      refused(request.raw, reply.raw);
    },
  });
}

/**
 * Builds the proxy; it does not listen yet.
 * @throws TypeError for an upstream address that is none of the allowed forms.
 */
export async function createProxy(options: ProxyOptions): Promise<ProxyServer> {
  const { inspector, limits, logger: log, meter } = options;
  const upstream = resolveUpstream(options.upstream);
  const forwarder = new Forwarder(upstream);
  const heldBytes = new HeldBytes((bytes) => {
    meter.heldBytes(bytes);
  });
  const inFlight = new InFlight((requests) => {
    meter.inFlight(requests);
  });
  const parts: GenerationParts = { forwarder, inspector, heldBytes, limits, meter, log };

  const carryOwn = (request: IncomingMessage, response: ServerResponse): void => {
    void carryUntouched(forwarder, request, response);
  };
  const app: FastifyInstance = createApp(log, (request, response) => {
    inFlight.add(response);
    carryOwn(request, response);
  });
  // Runs before routing refuses content types and before anything is parsed.
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (offersWebSocket(raw)) {
      done();
      return;
    }
    // The framework, the plugin and the relay each watch a response for its end, more than node's default of ten.
    reply.raw.setMaxListeners(0);
    inFlight.add(reply.raw);
    const route = inspector.routeOf(raw.method ?? 'GET', pathOf(raw.url ?? '/'));
    if (route.kind !== 'pass') {
      reply.hijack();
      void carryGeneration(parts, raw, reply.raw, route);
    } else if (needsOwnSender(raw)) {
      reply.hijack();
      carryOwn(raw, reply.raw);
    } else done();
  });
  await mountPassThrough(app, forwarder, upstream);
  await app.ready();
  const server: Server = app.server;
  const webSockets = guardUpgrades(server);
  // Any Expect but 100-continue would be answered 417 by node.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connection', (socket) => {
    // Each pipelined request watches its socket.
    socket.setMaxListeners(0);
    inFlight.watch(socket);
  });

  async function drain(timeoutMs: number): Promise<void> {
    const cutOff = setTimeout(() => {
      server.closeAllConnections();
      for (const socket of webSockets) socket.destroy();
    }, timeoutMs);
    inFlight.lastOnes(() => {
      server.closeIdleConnections();
    });
    await app.close();
    clearTimeout(cutOff);
    await forwarder.close();
  }

  return {
    listen: async ({ host, port }) => {
      await app.listen({ host, port });
      const address = server.address();
      if (address === null || typeof address === 'string')
        throw new Error(`not listening on ${host}:${port}`);
      return address;
    },
    drain,
    close: () => drain(0),
  };
}
