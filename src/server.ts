/** The composition root: builds every part from a configuration and ties them together. No logic of its own. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { createAdmin } from './admin/admin.ts';
import { EventsRing } from './admin/events-ring.ts';
import { FindingsRing } from './admin/findings-ring.ts';
import { listenUrl, parseUpstreamUrl, requireListenAddress } from './config/addresses.ts';
import { describeConfig } from './config/describe.ts';
import { ownCredentials } from './config/effective.ts';
import type { LoadedConfig } from './config/load.ts';
import { packageVersion } from './config/version.ts';
import { connectEngine } from './engines/connect.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { FindingRecord } from './exchange/finding-record.ts';
import { createFindingLog } from './log/finding-log.ts';
import type { Logger } from './log/logger.ts';
import { watchEventLoopLag } from './metrics/event-loop-lag.ts';
import { createMetrics } from './metrics/meter.ts';
import { createInspector } from './pipeline.ts';
import { engineEventReporter } from './pipeline/engine-events.ts';
import { FindingPublisher } from './pipeline/finding-publisher.ts';
import { Judge } from './pipeline/judge.ts';
import { SessionMemory } from './pipeline/session-memory.ts';
import { SlotWatch } from './pipeline/slot-watch.ts';
import type { BreakerState } from './policies/breaker.ts';
import { createProxy } from './proxy/proxy-server.ts';
import { createRequestParser } from './proxy/request-parser.ts';
import { RequestDigester } from './sessions/digest.ts';
import { MemorySessionStore } from './sessions/store-memory.ts';

export interface RunningServer {
  /** Where clients connect. */
  readonly url: string;
  readonly adminUrl: string;
  /** New requests see the new configuration; those under way keep theirs. */
  swapConfig(loaded: LoadedConfig): void;
  noteReload(successful: boolean): void;
  /** Stops accepting, lets requests under way finish within `drain.timeoutSeconds`, then closes everything. */
  drain(): Promise<void>;
}

export interface ServerOptions {
  readonly loaded: LoadedConfig;
  readonly logger: Logger;
  /** Relative paths in the configuration start here. */
  readonly cwd: string;
  /** Told of each finding when it is published, for whoever shows it elsewhere than in the log and on the admin port. */
  readonly onFinding?: (record: FindingRecord) => void;
  /** Told of each exchange when it is over, for whoever keeps it; it holds ids and text. */
  readonly onSettled?: (exchange: Exchange) => void;
}

const housekeepingMs = 1000;

const breakerMessages: Readonly<Record<BreakerState, string>> = {
  open: 'too large a share of requests would be rejected: nothing is blocked for a minute',
  'half-open': 'blocking is tried again',
  closed: 'strict mode blocks again',
};

/** @throws the system's error if a listener can't be opened; Error if the configuration names no upstream. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { logger, cwd, onFinding, onSettled } = options;
  let loaded = options.loaded;
  const config = (): LoadedConfig['config'] => loaded.config;
  const { upstream: upstreamConfig, listen, admin: adminConfig, sessions, limits } = config();
  const address = parseUpstreamUrl(upstreamConfig.url ?? '');
  if (upstreamConfig.url === undefined || address === undefined) {
    throw new Error('upstream.url is not set; `serve` checks this before it starts the server');
  }
  const ca = upstreamConfig.ca === undefined ? undefined : resolve(cwd, upstreamConfig.ca);
  const digestKey = randomBytes(32);
  const { meter, scrape } = createMetrics({ modelLabels: limits.modelLabels, processMetrics: true });
  const onFailure = (error: unknown, { id }: { readonly id: string }): void => {
    logger.error({ err: error, requestId: id }, 'inspection failed; the request was forwarded uninspected');
  };

  const events = new EventsRing();
  const onEvent = engineEventReporter({
    meter,
    log: logger,
    onRecord: (record) => {
      events.add(record);
    },
  });
  const engine = connectEngine({
    kind: config().engine.kind,
    address,
    tls: {
      rejectUnauthorized: !upstreamConfig.insecureTls,
      ...(ca === undefined ? {} : { ca: readFileSync(ca, 'utf8') }),
    },
    limits: () => config().limits,
    segmentCacheBytes: limits.segmentCacheBytes,
    digestKey,
    onEvent,
    onAnswer: (oracle, result) => {
      meter.oracleRequest(oracle, result);
    },
    onTokenized: (source, tokens) => {
      meter.tokenizedTokens(source, tokens);
    },
    onRecognised: (kind) => {
      logger.info({ engine: kind }, 'engine recognised');
    },
  });

  const slots = new SlotWatch({ now: () => performance.now(), flag: () => engine.slotsFlag, onEvent });
  const store = new MemorySessionStore({
    maxBytes: sessions.maxBytes,
    maxAgeMs: sessions.ttlSeconds * 1000,
    maxHeads: sessions.heads,
    digestKey,
    now: () => performance.now(),
    onEvicted: (reason, turns) => {
      meter.sessionEviction(reason, turns);
    },
  });
  const findings = new FindingsRing(() => config().limits.findingsKept);
  const findingLog = createFindingLog({
    write: (level, fields, message) => {
      logger[level](fields, message);
    },
    foldSeconds: () => config().log.foldSeconds,
  });
  const parser = createRequestParser({ workerBytes: () => config().limits.workerBytes });
  const judge = new Judge({
    engine,
    publisher: new FindingPublisher({
      engine,
      digestKey,
      credentials: () => ownCredentials(config()),
      onRecord: (record) => {
        findings.add(record);
        findingLog.add(record);
        onFinding?.(record);
      },
    }),
    now: () => performance.now(),
    onDetected: (seconds, exchange) => {
      meter.inspectionDuration('detect', seconds, exchange);
    },
    onBreaker: (state) => {
      meter.rejectionsSuspended(state === 'open');
      logger.warn({ event: 'rejection-breaker', state }, breakerMessages[state]);
    },
    onFailure,
  });
  const inspector = createInspector({
    engine,
    config,
    read: (body, kind) => parser.read(body, kind),
    memory: new SessionMemory({
      store,
      digester: new RequestDigester(digestKey),
      onLookup: (source) => {
        meter.sessionLookup(source);
      },
      onTurn: (exchange) => {
        slots.note(exchange);
      },
    }),
    judge,
    meter,
    digestKey,
    onFailure,
    ...(onSettled && { onSettled }),
  });

  const proxy = await createProxy({
    upstream: {
      url: upstreamConfig.url,
      insecureTls: upstreamConfig.insecureTls,
      ...(upstreamConfig.injectApiKey && upstreamConfig.apiKey !== undefined
        ? { injectedKey: upstreamConfig.apiKey }
        : {}),
      ...(ca === undefined ? {} : { ca }),
    },
    inspector,
    limits: () => config().limits,
    logger,
    meter,
  });
  let draining = false;
  const adminAddress = requireListenAddress(adminConfig.listen);
  const admin = createAdmin({
    access: {
      listenHost: adminAddress.host,
      ...(adminConfig.token === undefined ? {} : { token: adminConfig.token }),
    },
    allowedHosts: adminConfig.allowedHosts,
    version: { version: packageVersion(), node: process.version },
    scrape,
    ready: () => (draining ? { ready: false, reason: 'draining' } : engine.ready()),
    config: () => describeConfig(loaded),
    findings,
    events,
    sessions: () => store.list(200),
    onError: (error) => {
      logger.error({ err: error }, 'admin request failed');
    },
  });

  const lag = watchEventLoopLag((seconds) => {
    meter.eventLoopLag(seconds);
  });
  const housekeeping = setInterval(() => {
    findingLog.closeDue();
    meter.sessions(store.count, store.bytes);
  }, housekeepingMs);
  housekeeping.unref();
  meter.buildInfo(packageVersion(), process.version);
  meter.configReload(true, Date.now());

  const proxyAt = await proxy.listen(requireListenAddress(listen));
  const adminUrl = await admin.listen(adminAddress).catch(async (error: unknown) => {
    // Half a server is none: without its admin port nobody would see what it does.
    await proxy.close();
    throw error;
  });
  // Learns the model before the first request needs it, where no client's key is needed for that.
  void engine.facts(undefined, {
    credentials: ownCredentials(config()),
    signal: new AbortController().signal,
  });

  return {
    url: listenUrl({ host: proxyAt.address, port: proxyAt.port }),
    adminUrl,
    swapConfig: (next) => {
      loaded = next;
      logger.level = next.config.log.level;
    },
    noteReload: (successful) => {
      meter.configReload(successful, Date.now());
    },
    drain: async () => {
      draining = true;
      await proxy.drain(config().drain.timeoutSeconds * 1000);
      clearInterval(housekeeping);
      lag.stop();
      findingLog.closeAll();
      await Promise.all([admin.close(), parser.close(), engine.close()]);
    },
  };
}
