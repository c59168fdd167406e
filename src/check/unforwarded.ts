/**
 * The pipeline of `serve`, for requests that go nowhere: the same stages, detectors and memory, put together without a
 * transport. Observes only, and waits for the whole inspection as long as it takes.
 */
import type { Config } from '../config/schema.ts';
import type { Engine } from '../engines/engine.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FindingRecord } from '../exchange/finding-record.ts';
import type { IncomingRequest } from '../exchange/inspection.ts';
import type { Reply } from '../exchange/reply/reply.ts';
import { readRequest } from '../exchange/request/request-reader.ts';
import { createMetrics } from '../metrics/meter.ts';
import { inspectUnforwarded, settleUnforwarded, type PipelineParts } from '../pipeline.ts';
import { FindingPublisher } from '../pipeline/finding-publisher.ts';
import { Judge } from '../pipeline/judge.ts';
import { SessionMemory } from '../pipeline/session-memory.ts';
import { RequestDigester } from '../sessions/digest.ts';
import { MemorySessionStore } from '../sessions/store-memory.ts';

export interface UnforwardedSettings {
  readonly config: Config;
  /** Random per run: windows of one run can be compared by their pseudonyms. */
  readonly digestKey: Uint8Array;
  /** Told of faults of ours; the exchange goes on as unknown. */
  readonly onFailure: (error: unknown) => void;
}

/** What detectors said, as it leaves the process, and which of them could not be asked. */
export interface Judgement {
  readonly findings: readonly FindingRecord[];
  readonly skipped: Exchange['skipped'];
}

/** An exchange as it would stand before it is forwarded, and what its reply shows, if there is one. */
export interface Judged extends Judgement {
  readonly exchange: Exchange;
  readonly reply?: Judgement;
}

const dayMs = 86_400_000;

/** One memory of conversations, over all engines that it is asked with. Judges one exchange at a time, in order. */
export class UnforwardedPipeline {
  readonly #settings: UnforwardedSettings;
  readonly #config: Config;
  readonly #memory: SessionMemory;
  readonly #parts = new Map<
    Engine,
    { readonly parts: PipelineParts; readonly publisher: FindingPublisher }
  >();
  #told: FindingRecord[] = [];

  constructor(settings: UnforwardedSettings) {
    const { config, digestKey } = settings;
    this.#settings = settings;
    this.#config = {
      ...config,
      mode: 'observe',
      inspection: { ...config.inspection, timing: 'before', budgetMs: dayMs },
    };
    this.#memory = new SessionMemory({
      store: new MemorySessionStore({
        maxBytes: config.sessions.maxBytes,
        maxAgeMs: dayMs,
        maxHeads: config.sessions.heads,
        digestKey,
        now: () => performance.now(),
      }),
      digester: new RequestDigester(digestKey),
      onLookup: () => undefined,
    });
  }

  /** @param reply what is known of the engine's answer; undefined if there is none, or nobody kept it */
  async judge(incoming: IncomingRequest, engine: Engine, reply?: Reply): Promise<Judged> {
    const { parts, publisher } = this.#parts.get(engine) ?? this.#open(engine);
    const isHeld = incoming.body.length <= this.#config.limits.requestBytes;
    const request = isHeld ? incoming : { ...incoming, body: 'body-too-large' as const };
    const exchange = await inspectUnforwarded(request, parts);
    const judgement = await this.#judgement(exchange, publisher);
    await settleUnforwarded(exchange, reply, parts);
    if (reply === undefined) return { exchange, ...judgement };
    return { exchange, ...judgement, reply: await this.#judgement(exchange, publisher) };
  }

  async #judgement({ skipped }: Exchange, publisher: FindingPublisher): Promise<Judgement> {
    await publisher.told();
    return { findings: this.#told.splice(0), skipped };
  }

  #open(engine: Engine): { readonly parts: PipelineParts; readonly publisher: FindingPublisher } {
    const { digestKey, onFailure } = this.#settings;
    const { apiKey } = this.#config.upstream;
    const publisher = new FindingPublisher({
      engine,
      digestKey,
      credentials: () => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      onRecord: (record) => {
        this.#told.push(record);
      },
    });
    const parts: PipelineParts = {
      engine,
      config: () => this.#config,
      read: (body, kind) => Promise.resolve(readRequest(body, kind)),
      memory: this.#memory,
      judge: new Judge({
        engine,
        publisher,
        onDetected: () => undefined,
        onBreaker: () => undefined,
        onFailure,
        now: () => performance.now(),
      }),
      // Counted as ever, into a registry that nobody reads.
      meter: createMetrics({ modelLabels: this.#config.limits.modelLabels }).meter,
      digestKey,
      onFailure,
    };
    const opened = { parts, publisher };
    this.#parts.set(engine, opened);
    return opened;
  }
}
