/**
 * What is known of each served model, and when it must be learnt again. A model's signature is what the engine says of
 * itself cheaply; while it stays the same, facts hold. Learning is shared: many requests, one probe.
 */
import { LRUCache } from 'lru-cache';

import type { ModelFacts } from '../exchange/model-facts.ts';
import { compileMarkers, type MarkerPattern } from '../tokens/markers.ts';
import { TokenTrust } from '../tokens/trust.ts';

import type { EngineEvent } from './engine.ts';

export interface KnownModel {
  readonly facts: ModelFacts;
  /** Compiled from `facts.markers`. */
  readonly markers: MarkerPattern;
  readonly trust: TokenTrust;
}

/** Bounds what a router with very many models can make us keep. */
const mostModels = 64;

export class ModelRegistry {
  /** By the name that requests use; '' for an engine that serves one model whatever the name. */
  readonly #models = new LRUCache<string, { signature: string; model: KnownModel }>({ max: mostModels });
  readonly #learning = new Map<string, Promise<KnownModel>>();
  readonly #onEvent: (event: EngineEvent) => void;

  constructor(onEvent: (event: EngineEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** The model's facts if they were learnt under this signature, else those that `learn` finds out. */
  async get(name: string, signature: string, learn: () => Promise<ModelFacts>): Promise<KnownModel> {
    const known = this.#models.get(name);
    if (known?.signature === signature) return known.model;
    const key = `${name}\n${signature}`;
    const underWay = this.#learning.get(key);
    if (underWay !== undefined) return underWay;
    const learning = learn().then((facts) => {
      const model: KnownModel = { facts, markers: compileMarkers(facts.markers), trust: new TokenTrust() };
      if (known !== undefined) this.#reportChanges(known.model.facts, facts);
      this.#models.set(name, { signature, model });
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
        signature: entry.signature,
        model: { facts, markers: compileMarkers(markers), trust: entry.model.trust },
      });
    }
  }

  #reportChanges(old: ModelFacts, now: ModelFacts): void {
    const report = (what: (EngineEvent & { event: 'facts-changed' })['what']): void => {
      this.#onEvent({ event: 'facts-changed', modelName: now.modelName, what });
    };
    if (old.mediaMarker !== now.mediaMarker) report('restart');
    if (old.templateHash !== now.templateHash) report('template');
    if (old.bos?.id !== now.bos?.id || String(old.addedPrefix.chat) !== String(now.addedPrefix.chat)) {
      report('bos');
    }
    if (old.contextTokens !== now.contextTokens) report('context');
    if (old.build !== now.build) report('build');
  }
}
