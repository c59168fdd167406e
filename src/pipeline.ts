/**
 * Steps 3–8 and 11–12 of a request's way (docs/architecture.md): read, ask, find the session, detect, decide, count;
 * and after the reply: settle, remember. Over injected parts; knows nothing of HTTP.
 */
import type { Config } from './config/schema.ts';
import type { Credentials, Engine } from './engines/engine.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { IncomingRequest, Inspection, Inspector } from './exchange/inspection.ts';
import type { Reply } from './exchange/reply/reply.ts';
import type { Meter } from './metrics/meter-type.ts';
import { ExchangeInspection } from './pipeline/exchange-inspection.ts';
import type { Judge } from './pipeline/judge.ts';
import type { SessionMemory } from './pipeline/session-memory.ts';
import { settle } from './pipeline/settle.ts';
import { runStages, type StageDependencies } from './pipeline/stages.ts';
import { identifyClient } from './sessions/identity.ts';

export interface PipelineParts {
  readonly engine: Engine;
  /** Asked once per exchange: a reload reaches new requests and leaves those under way alone. */
  readonly config: () => Config;
  readonly read: StageDependencies['read'];
  readonly memory: SessionMemory;
  readonly judge: Judge;
  readonly meter: Meter;
  /** Random per process. */
  readonly digestKey: Uint8Array;
  readonly onFailure: (error: unknown, exchange: Exchange) => void;
  /** Told of each exchange once all is known of it, ids that nothing may print among it. */
  readonly onSettled?: (exchange: Exchange) => void;
}

export function createInspector(parts: PipelineParts): Inspector {
  return {
    routeOf: (method, path) => parts.engine.routeOf(method, path),
    inspect: (incoming): Inspection => openInspection(incoming, parts).inspection,
  };
}

/** Steps 3–8 for a request that goes nowhere: the exchange as it would stand before it is forwarded. */
export async function inspectUnforwarded(incoming: IncomingRequest, parts: PipelineParts): Promise<Exchange> {
  const { exchange, inspection } = openInspection(incoming, parts);
  await inspection.verdict;
  return exchange;
}

/**
 * Step 12 for it. Without a reply its turn is remembered as if the engine had begun to answer, so that the next request
 * of its session is compared with it.
 */
export async function settleUnforwarded(
  exchange: Exchange,
  reply: Reply | undefined,
  parts: PipelineParts,
): Promise<void> {
  if (reply === undefined) return parts.memory.remember(exchange);
  exchange.reply = reply;
  return settle({ ...parts, config: parts.config() }, exchange);
}

function openInspection(
  incoming: IncomingRequest,
  parts: PipelineParts,
): { readonly exchange: Exchange; readonly inspection: Inspection } {
  const { engine, meter } = parts;
  const config = parts.config();
  const exchange = openExchange(incoming, config, parts.digestKey);
  const asking = new AbortController();
  const stages = runStages(
    {
      exchange,
      incoming,
      config,
      context: { credentials: credentialsOf(incoming, config), signal: asking.signal },
    },
    {
      engine,
      read: parts.read,
      memory: parts.memory,
      onStage: (stage, seconds) => {
        meter.inspectionDuration(stage, seconds, exchange);
      },
      onFailure: parts.onFailure,
    },
  );
  const inspection = new ExchangeInspection({
    ...parts,
    exchange,
    config,
    stages,
    stopAsking: () => {
      asking.abort();
    },
  });
  return { exchange, inspection };
}

function openExchange(incoming: IncomingRequest, config: Config, digestKey: Uint8Array): Exchange {
  const { id, receivedAtMs, route, headers, remoteAddress, reference } = incoming;
  const traceId = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(headers['traceparent'] ?? '')?.[1];
  return {
    id,
    receivedAtMs,
    route,
    client: identifyClient(headers, remoteAddress, { digestKey, clients: config.clients }),
    ...(traceId !== undefined && { traceId }),
    ...(reference && { reference }),
    modelName: 'unknown',
    heads: [],
    prompts: [],
    findings: [],
    skipped: [],
    inspection: { result: 'unknown', reason: 'facts-missing' },
    action: 'pass',
  };
}

/** The client's own credentials go with questions about its own request; the operator's key where it sent none. */
function credentialsOf({ headers }: Pick<IncomingRequest, 'headers'>, config: Config): Credentials {
  const authorization = headers['authorization'];
  const apiKey = headers['x-api-key'];
  if (authorization !== undefined || apiKey !== undefined) {
    return {
      ...(authorization !== undefined && { authorization }),
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
    };
  }
  const operators = config.upstream.apiKey;
  return operators === undefined ? {} : { authorization: `Bearer ${operators}` };
}
