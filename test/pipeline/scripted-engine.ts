// An engine whose answers come when the test says so, and the pipeline in front of it: for orders of events that a real
// engine does not show on demand.
import { loadConfig } from '../../src/config/load.ts';
import type { Engine, FactsRead, PromptReading } from '../../src/engines/engine.ts';
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import type { Inspection } from '../../src/exchange/inspection.ts';
import { createOpenAiReplyReader } from '../../src/exchange/reply/openai-reply.ts';
import { readRequest } from '../../src/exchange/request/request-reader.ts';
import type { HeadRead, TokenRead } from '../../src/exchange/token-read.ts';
import { createMetrics } from '../../src/metrics/meter.ts';
import { createInspector } from '../../src/pipeline.ts';
import { FindingPublisher } from '../../src/pipeline/finding-publisher.ts';
import { Judge } from '../../src/pipeline/judge.ts';
import { SessionMemory } from '../../src/pipeline/session-memory.ts';
import { RequestDigester } from '../../src/sessions/digest.ts';
import { MemorySessionStore } from '../../src/sessions/store-memory.ts';
import { factsOf } from '../support/exchange-builder.ts';

/** What the engine answers; a promise that never ends is a stalled engine. */
export interface Script {
  facts?: () => Promise<FactsRead>;
  heads?: () => Promise<readonly HeadRead[]>;
  prompts?: () => Promise<readonly TokenRead[]>;
  idsVerified?: boolean;
  /** The judge's clock. */
  now?: () => number;
}

export const never = <Value>(): Promise<Value> => new Promise<Value>(() => undefined);

export function known(...ids: number[]): TokenRead {
  return { known: true, ids: Uint32Array.from(ids), source: 'engine', text: '' };
}

export function openPipeline(script: Script, settings: Readonly<Record<string, string>> = {}) {
  const env = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`TOKENWEIR_${name}`, value]),
  );
  const loaded = loadConfig({ flags: {}, env, cwd: '/nonexistent' });
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.errors));
  const noted: (number | undefined)[] = [];
  const counts: [string, boolean][] = [];
  const engine: Engine = {
    kind: 'scripted',
    routeOf: () => route,
    facts: script.facts ?? (() => Promise.resolve({ known: true, facts: factsOf.gemma3 })),
    askingForIds: () => undefined,
    read: (): PromptReading => ({
      heads: script.heads ?? (() => Promise.resolve([{ known: true, ids: [2, 105] }])),
      prompts: script.prompts ?? (() => Promise.resolve([known(2, 105, 2364)])),
    }),
    replyReader: (_route, request, reading) => createOpenAiReplyReader({ ...reading, shape: request.kind }),
    explain: () => Promise.resolve([]),
    models: () => Promise.resolve([]),
    pieces: () => Promise.resolve([]),
    noteReply: (status) => noted.push(status),
    noteCount: (_facts, kind, matched) => {
      counts.push([kind, matched]);
      return [];
    },
    idsVerified: () => script.idsVerified ?? true,
    ready: () => Promise.resolve({ ready: true, reason: 'scripted' }),
    close: () => Promise.resolve(),
  };
  const digestKey = new Uint8Array(32);
  const store = new MemorySessionStore({
    maxBytes: 1_000_000,
    maxAgeMs: 1_000_000,
    maxHeads: 4,
    digestKey,
    now: () => performance.now(),
  });
  const { meter, scrape } = createMetrics({ modelLabels: 5 });
  const records: FindingRecord[] = [];
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => {
    failures.push(error);
  };
  const inspector = createInspector({
    engine,
    config: () => loaded.config,
    read: (body, kind) => Promise.resolve(readRequest(body, kind)),
    memory: new SessionMemory({ store, digester: new RequestDigester(digestKey), onLookup: () => undefined }),
    judge: new Judge({
      engine,
      publisher: new FindingPublisher({
        engine,
        digestKey,
        credentials: () => ({}),
        onRecord: (record) => records.push(record),
      }),
      now: script.now ?? ((): number => performance.now()),
      onDetected: () => undefined,
      onBreaker: () => undefined,
      onFailure,
    }),
    meter,
    digestKey,
    onFailure,
  });
  return {
    store,
    records,
    failures,
    noted,
    counts,
    inspect: (body: object | Buffer): Inspection =>
      inspector.inspect({
        id: 'r1',
        receivedAtMs: 0,
        method: 'POST',
        path: '/v1/completions',
        url: '/v1/completions',
        headers: {},
        remoteAddress: '127.0.0.1',
        route,
        body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
      }),
    series: async (line: string): Promise<number> => {
      const text = await scrape('text');
      const found = text.split('\n').find((one) => one.startsWith(`tokenweir_${line} `));
      return found === undefined ? 0 : Number(found.slice(found.lastIndexOf(' ') + 1));
    },
  };
}

const route = { kind: 'completion', inspected: true, dialect: 'openai' } as const;

/** A whole reply that says how many prompt tokens the engine counted. */
export function reply(inspection: Inspection, promptTokens: number): void {
  const usage = { prompt_tokens: promptTokens, completion_tokens: 1, total_tokens: promptTokens + 1 };
  const body = { choices: [{ index: 0, text: 'x', finish_reason: 'stop' }], usage };
  inspection.reply.headers(200, 'application/json', '');
  inspection.reply.chunk(Buffer.from(JSON.stringify(body)));
  inspection.reply.end('completed', 200);
}
