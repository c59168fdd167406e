/**
 * What an adapter keeps of the models behind it, the same for every engine: facts and how long they hold, remembered
 * segments, and how far its ids are believed. It asks nothing; adapters do.
 */
import type { ModelFacts } from '../exchange/model-facts.ts';
import { SegmentCache } from '../tokens/segment-cache.ts';
import { SegmentForecast } from '../tokens/segment-forecast.ts';
import type { TrustChange } from '../tokens/trust.ts';

import type { EngineDependencies, FactsRead } from './engine.ts';
import { FactPatience } from './facts/fact-patience.ts';
import { MarkerScout } from './facts/marker-scout.ts';
import { ModelRegistry, type KnownModel } from './model-registry.ts';
import { orUnknown } from './oracle/oracle-failure.ts';
import { TextReading } from './text-reading.ts';

export class ModelKnowledge {
  readonly models: ModelRegistry;
  /** True from a refused or failing answer on until the engine has said again what it is. */
  mayHaveChanged = false;
  readonly #dependencies: EngineDependencies;
  readonly #forget: () => void;
  readonly #segments: SegmentCache;
  readonly #forecast = new SegmentForecast();
  readonly #scout: MarkerScout;
  readonly #patience = new FactPatience();

  /** @param forget called when whatever answers next may be another process: what the engine said of itself is old then */
  constructor(dependencies: EngineDependencies, forget: () => void) {
    this.#dependencies = dependencies;
    this.#forget = forget;
    dependencies.client.onDisconnect(forget);
    this.models = new ModelRegistry(dependencies.onEvent);
    this.#segments = new SegmentCache({
      maxBytes: dependencies.segmentCacheBytes,
      digestKey: dependencies.digestKey,
      onTokenized: dependencies.onTokenized,
    });
    this.#scout = new MarkerScout((identity, found) => {
      this.models.addMarkers(identity, found);
    });
  }

  /**
   * What the engine confirms, or, while it takes long to, what was known before.
   * @param name under which the registry knows the model
   */
  async facts(name: string, confirming: () => Promise<KnownModel>): Promise<FactsRead> {
    const before = this.mayHaveChanged ? undefined : this.models.latest(name);
    return orUnknown(async () => ({
      known: true,
      facts: await this.#patience.facts(
        confirming(),
        before,
        () => !this.mayHaveChanged && !this.models.isLearning(name),
      ),
    }));
  }

  /**
   * Resolves once the engine may be asked about the model that the facts are of.
   * @throws OracleFailure if it can't be asked, or serves another model by now
   */
  confirmed(facts: ModelFacts): Promise<void> {
    return this.#patience.confirmed(facts);
  }

  /** Reads texts as the model that the facts are of. */
  textReading(facts: ModelFacts, confirmed = () => this.confirmed(facts)): TextReading {
    return new TextReading({
      facts,
      model: this.models.byIdentity(facts.identity),
      segments: this.#segments,
      forecast: this.#forecast,
      scout: this.#scout,
      confirmed,
      onTokenized: this.#dependencies.onTokenized,
      onWindowMismatch: (known) => {
        this.#report(known.facts, known.trust.windowMismatched());
      },
    });
  }

  /** A refused connection or a loading answer: what answers next may be another process with another model. */
  noteReply(status: number | undefined): void {
    if (status === undefined || status === 503) {
      this.#forget();
      this.mayHaveChanged = true;
    } else this.#dependencies.client.reachable();
  }

  /** @param doubtsMemory false where a mismatch has another likely reason than remembered segments */
  noteCount(
    facts: ModelFacts,
    kind: string,
    matched: boolean,
    doubtsMemory: boolean,
  ): readonly TrustChange[] {
    const known = this.models.byIdentity(facts.identity);
    if (known === undefined) return [];
    const changes = matched
      ? known.trust.countMatched(kind)
      : known.trust.countMismatched(kind, doubtsMemory);
    this.#report(facts, changes, kind);
    return changes;
  }

  idsVerified(facts: ModelFacts, kind?: string): boolean {
    return this.models.byIdentity(facts.identity)?.trust.verified(kind) ?? true;
  }

  #report({ modelName }: ModelFacts, changes: readonly TrustChange[], route = ''): void {
    const { onEvent } = this.#dependencies;
    for (const change of changes) {
      if (change === 'memoising-off') onEvent({ event: change, modelName });
      else onEvent({ event: `ids-${change}`, modelName, route });
    }
  }
}
