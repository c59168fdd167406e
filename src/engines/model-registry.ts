/**
 * What is known of each served model, and when it must be learnt again. A model's signature is what the engine says of
 * itself cheaply; while it stays the same, facts hold. Learning is shared: many requests, one probe.
 */
import { LRUCache } from 'lru-cache';

import type { EngineEvent } from '../exchange/engine-event.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { compileMarkers, type MarkerPattern } from '../tokens/markers.ts';
import { TokenTrust } from '../tokens/trust.ts';

import { changesBetween } from './facts/facts-change.ts';

export interface KnownModel {
  readonly facts: ModelFacts;
  /** Compiled from `facts.markers`. */
  readonly markers: MarkerPattern;
  readonly trust: TokenTrust;
}

interface Entry {
  readonly signature: string;
  readonly model: KnownModel;
  /** Without the markers that traffic has shown since. */
  readonly learnt: ModelFacts;
  /** When the engine last said that it is still so. */
  seenMs: number;
  /** Whether the model slept when the engine was last asked: then its cache is gone. */
  asleep: boolean;
}

/** Bounds what a router with very many models can make us keep. */
const mostModels = 64;

export class ModelRegistry {
  /** By the name that requests use; '' for an engine that serves one model whatever the name. */
  readonly #models = new LRUCache<string, Entry>({ max: mostModels });
  readonly #learning = new Map<string, Promise<KnownModel>>();
  readonly #onEvent: (event: EngineEvent) => void;

  constructor(onEvent: (event: EngineEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** The model's facts if they were learnt under this signature, else those that `learn` finds out. */
  async get(name: string, signature: string, learn: () => Promise<ModelFacts>): Promise<KnownModel> {
    const known = this.#models.get(name);
    if (known?.signature === signature) {
      known.seenMs = Date.now();
      return known.model;
    }
    const key = `${name}\n${signature}`;
    const underWay = this.#learning.get(key);
    if (underWay !== undefined) return underWay;
    const learning = learn().then((facts) => {
      const model: KnownModel = { facts, markers: compileMarkers(facts.markers), trust: new TokenTrust() };
      if (known !== undefined) this.#reportChanges(known, facts);
      this.#models.set(name, { signature, model, learnt: facts, seenMs: Date.now(), asleep: false });
      this.#onEvent({ event: 'facts-learnt', facts });
      return model;
    });
    this.#learning.set(key, learning);
    try {
      return await learning;
    } finally {
      this.#learning.delete(key);
    }
  }

  /** What was last learnt under the name; the engine may have changed since. */
  latest(name: string): KnownModel | undefined {
    return this.#models.get(name)?.model;
  }

  /** True if the latest facts were learnt under this signature. */
  knows(name: string, signature: string): boolean {
    return this.#models.peek(name)?.signature === signature;
  }

  /** Tells of a lost cache once per sleep; of a model that is not known nothing was cached that we know of. */
  noteSleep(name: string, asleep: boolean): void {
    const entry = this.#models.peek(name);
    if (entry === undefined) return;
    if (asleep && !entry.asleep) {
      const { modelName } = entry.learnt;
      this.#onEvent({ event: 'engine-cache-lost', modelName, reason: 'sleep' });
    }
    entry.asleep = asleep;
  }

  /** Tells of a lost cache for every model that is known: a restart of the one process behind all of them. */
  noteRestart(): void {
    for (const { learnt } of this.#models.values()) {
      this.#onEvent({ event: 'engine-cache-lost', modelName: learnt.modelName, reason: 'restart' });
    }
  }

  /** True while facts are being learnt under the name: those that are known are old then. */
  isLearning(name: string): boolean {
    return [...this.#learning.keys()].some((key) => key.startsWith(`${name}\n`));
  }

  byIdentity(identity: string): KnownModel | undefined {
    for (const { model } of this.#models.values()) if (model.facts.identity === identity) return model;
    return undefined;
  }

  /** Takes markers that were seen in traffic and proven since; ids don't change by them, only where prompts are cut. */
  addMarkers(identity: string, found: readonly ModelFacts['markers'][number][]): void {
    for (const [name, entry] of this.#models.entries()) {
      if (entry.model.facts.identity !== identity || found.length === 0) continue;
      const markers = [...entry.model.facts.markers, ...found].toSorted(
        (a, b) => b.text.length - a.text.length,
      );
      const facts = { ...entry.model.facts, markers };
      this.#models.set(name, {
        ...entry,
        model: { facts, markers: compileMarkers(markers), trust: entry.model.trust },
      });
    }
  }

  #reportChanges({ learnt, seenMs }: Entry, now: ModelFacts): void {
    const { modelName } = now;
    if (learnt.mediaMarker !== now.mediaMarker) {
      this.#onEvent({ event: 'engine-cache-lost', modelName, reason: 'restart' });
    }
    for (const change of changesBetween(learnt, now)) {
      this.#onEvent({ event: 'facts-changed', modelName, ...change, lastSeenMs: seenMs });
    }
  }
}
