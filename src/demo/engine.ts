// The demo engine: an HTTP server shaped like llama-server with a real tokenizer, a chat template and prefix reuse, for a
// first look without an inference server. It runs no model and says so; `serve` never starts it.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody, RefusedBody, type Body } from './body.ts';
import { EngineError, errorBody, toEngineError } from './engine-error.ts';
import { modelsReply, propertiesReply, slotsReply } from './fact-routes.ts';
import type { GenerationEnd, GenerationEngine, Pace } from './generation.ts';
import { answerGeneration, type GenerationDialect } from './generation-routes.ts';
import { slotCount } from './labels.ts';
import { Reply } from './reply.ts';
import { SlotPool } from './slots.ts';
import { loadDemoTokenizer } from './tokenizer.ts';
import { applyTemplateReply, detokenizeReply, inputTokensReply, tokenizeReply } from './tokenizer-routes.ts';

export interface DemoEngineOptions extends Partial<Pace> {
  /** @defaultValue `127.0.0.1` */
  readonly host?: string;
  /** @defaultValue 0: any free port */
  readonly port?: number;
  /** Called once for each choice whose generation began, however it ended. */
  readonly onGenerationEnd?: (end: GenerationEnd) => void;
}

export interface DemoEngine {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  /** Ends running generations and open connections, and frees the port. */
  close(): Promise<void>;
}

type Route = (body: Body, reply: Reply) => Promise<void> | void;

/** Routes of llama-server that the demo does not serve: 501 says so, where 404 would say that there is no such route. */
const unservedRoutes = [
  'GET /metrics',
  'POST /props',
  'POST /infill',
  'POST /responses',
  'POST /v1/responses',
  'POST /v1/messages',
  'POST /v1/messages/count_tokens',
  'POST /embedding',
  'POST /embeddings',
  'POST /v1/embeddings',
  'POST /rerank',
  'POST /v1/rerank',
];

function routesOf(engine: GenerationEngine): Map<string, Route> {
  const { tokenizer, slots } = engine;
  const startedAt = Math.floor(Date.now() / 1000);
  const mediaMarker = `<__media_${randomBytes(8).toString('hex')}__>`;
  const json = (make: (body: Body) => object): Route => {
    return (body, reply) => {
      reply.sendJson(200, make(body));
    };
  };
  const generation = (dialect: GenerationDialect): Route => {
    return (body, reply) => answerGeneration(engine, dialect, body, reply);
  };
  const unserved: Route = () => {
    throw new EngineError('not_supported_error', 'The demo engine does not serve this route.');
  };
  return new Map<string, Route>([
    ...['/health', '/v1/health'].map((path) => [`GET ${path}`, json(() => ({ status: 'ok' }))] as const),
    ['GET /props', json(() => propertiesReply(tokenizer, mediaMarker))],
    ['GET /slots', json(() => slotsReply(slots))],
    ...['/models', '/v1/models'].map(
      (path) => [`GET ${path}`, json(() => modelsReply(tokenizer, startedAt))] as const,
    ),
    ['POST /tokenize', json((body) => tokenizeReply(tokenizer, body))],
    ['POST /detokenize', json((body) => detokenizeReply(tokenizer, body))],
    ['POST /apply-template', json((body) => applyTemplateReply(tokenizer, body))],
    ...['/chat/completions', '/v1/chat/completions'].flatMap(
      (path) =>
        [
          [`POST ${path}`, generation('chat')],
          [`POST ${path}/input_tokens`, json((body) => inputTokensReply(tokenizer, body))],
        ] as const,
    ),
    ['POST /completion', generation('native')],
    ['POST /completions', generation('native')],
    ['POST /v1/completions', generation('completion')],
    ...unservedRoutes.map((route) => [route, unserved] as const),
  ]);
}

async function answer(routes: Map<string, Route>, request: IncomingMessage, reply: Reply): Promise<void> {
  if (request.method === 'OPTIONS') {
    reply.sendPreflight();
    return;
  }
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const [path = '/'] = (request.url ?? '/').split('?');
  const route = routes.get(`${method} ${path}`);
  try {
    if (route === undefined) throw new EngineError('not_found_error', 'File Not Found');
    await route(method === 'POST' ? await readBody(request) : {}, reply);
  } catch (thrown) {
    // A client that left gets no answer; its generation has ended by now.
    if (reply.signal.aborted || reply.hasStarted) return;
    if (thrown instanceof RefusedBody) {
      reply.sendEmpty(thrown.status, { closing: true });
      return;
    }
    const error = toEngineError(thrown);
    reply.sendJson(error.status, errorBody(error));
  }
}

/**
 * Starts the engine and resolves when it answers.
 * @throws Error of node:net, such as EADDRINUSE, if it can't listen.
 */
export async function startDemoEngine(options: DemoEngineOptions = {}): Promise<DemoEngine> {
  const host = options.host ?? '127.0.0.1';
  const routes = routesOf({
    tokenizer: loadDemoTokenizer(),
    slots: new SlotPool(slotCount),
    pace: {
      tokenIntervalMs: options.tokenIntervalMs ?? 3,
      prefillTokensPerSecond: options.prefillTokensPerSecond ?? 5000,
    },
    onGenerationEnd: options.onGenerationEnd ?? (() => undefined),
  });
  const server = createServer((request, response) => {
    void answer(routes, request, new Reply(request, response));
  });
  // llama-server's own habits, which a proxy must cope with: 5 s idle, 100 requests per connection.
  server.keepAliveTimeout = 5000;
  server.maxRequestsPerSocket = 100;
  server.requestTimeout = 0;
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
