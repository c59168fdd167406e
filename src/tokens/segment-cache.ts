/**
 * Ids of prompts, tokenized segment by segment and memoised, so that a turn costs what is new in it. The cache holds
 * keyed digests and ids, bounded in bytes; it never holds text. Used for proven boundaries only.
 */
import { LRUCache } from 'lru-cache';

import type { KnownTokens, SegmentRead } from '../exchange/token-read.ts';
import type { TokenizeMany } from './boundary-proof.ts';
import { keyedDigest } from './digest.ts';
import { cutAtMarkers, type MarkerPattern, type Segment } from './markers.ts';

export interface SegmentCacheOptions {
  /** Bound in bytes, per-entry overhead included. */
  readonly maxBytes: number;
  /** Random per process. */
  readonly digestKey: Uint8Array;
  /** Told how many tokens came from where. */
  readonly onTokenized?: (source: 'cache' | 'engine', tokens: number) => void;
}

export interface TokenizeOptions {
  /** What the ids depend on besides the text: model identity and parse flags; `cache_salt` where there is one. */
  readonly scope: string;
  readonly markers: MarkerPattern;
  readonly addedPrefix: readonly number[];
  readonly addedSuffix: readonly number[];
  /** False after a mismatch: the whole text is then tokenized in one piece, and nothing is remembered. */
  readonly memoise: boolean;
  readonly tokenizeMany: TokenizeMany;
}

/**
 * Measured on Node 20 with 10 to 1000 ids per entry: map slots, the key string and the typed array's header and
 * backing store take about this much beside the ids themselves (bench/memory.ts).
 */
const entryOverheadBytes = 360;

/** Forecasts that fail are never wanted. */
const mostAhead = 1024;

export class SegmentCache {
  readonly #entries: LRUCache<string, Uint32Array>;
  readonly #pending = new Map<string, Promise<Uint32Array>>();
  /** Asked for ahead and not wanted yet: their tokens were told as the engine's, and are not the cache's too. */
  readonly #ahead = new Set<string>();
  readonly #options: SegmentCacheOptions;

  constructor(options: SegmentCacheOptions) {
    this.#options = options;
    this.#entries = new LRUCache({
      maxSize: options.maxBytes,
      sizeCalculation: (ids) => ids.byteLength + entryOverheadBytes,
    });
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  /**
   * @returns the ids as the engine would make them of `text` as one string, and where each segment starts.
   * @throws whatever `tokenizeMany` throws; nothing of a failed call is remembered.
   */
  async tokenize(text: string, options: TokenizeOptions): Promise<KnownTokens> {
    const segments = options.memoise
      ? cutAtMarkers(text, options.markers)
      : [{ text, start: 0 }].filter((segment) => segment.text !== '');
    const keys = segments.map((segment) => keyedDigest(this.#options.digestKey, options.scope, segment.text));
    const idsOfSegments = await this.#resolve(segments, keys, options);
    return assemble(text, segments, keys, idsOfSegments, options);
  }

  /** Asks for segments that are likely to be wanted: `tokenize` then finds them known or under way. Never rejects. */
  async askAhead(
    texts: readonly string[],
    { scope, tokenizeMany }: Pick<TokenizeOptions, 'scope' | 'tokenizeMany'>,
  ): Promise<void> {
    const missing = new Map<string, string>();
    for (const text of texts) {
      const key = keyedDigest(this.#options.digestKey, scope, text);
      if (!this.#entries.has(key) && !this.#pending.has(key)) missing.set(key, text);
    }
    if (missing.size === 0) return;
    if (this.#ahead.size > mostAhead) this.#ahead.clear();
    for (const key of missing.keys()) this.#ahead.add(key);
    // Whoever waits for them sees the failure.
    await this.#askEngine(missing, true, tokenizeMany).catch(() => undefined);
  }

  async #resolve(
    segments: readonly Segment[],
    keys: readonly string[],
    { memoise, tokenizeMany }: TokenizeOptions,
  ): Promise<Uint32Array[]> {
    const missing = new Map<string, string>();
    const waiting = new Map<string, Promise<Uint32Array>>();
    const known = new Map<string, Uint32Array>();
    segments.forEach((segment, index) => {
      const key = keys[index] ?? '';
      const ids = memoise ? this.#entries.get(key) : undefined;
      if (ids !== undefined) {
        known.set(key, ids);
        if (!this.#ahead.delete(key)) this.#options.onTokenized?.('cache', ids.length);
        return;
      }
      const pending = memoise ? this.#pending.get(key) : undefined;
      if (pending === undefined) missing.set(key, segment.text);
      else waiting.set(key, pending);
    });
    if (missing.size > 0) {
      for (const [key, ids] of await this.#askEngine(missing, memoise, tokenizeMany)) known.set(key, ids);
    }
    for (const [key, pending] of waiting) known.set(key, await pending);
    return keys.map((key) => known.get(key) ?? new Uint32Array());
  }

  /** One call for everything missing; other exchanges that miss the same segments meanwhile share its answer. */
  async #askEngine(
    missing: ReadonlyMap<string, string>,
    memoise: boolean,
    tokenizeMany: TokenizeMany,
  ): Promise<Map<string, Uint32Array>> {
    const keys = [...missing.keys()];
    const answer = tokenizeMany([...missing.values()]);
    if (memoise) {
      keys.forEach((key, index) => {
        const share = answer.then((all) => all[index] ?? new Uint32Array());
        // Whoever waits sees the failure; without a waiter it must not become an unhandled rejection.
        share.catch(() => undefined);
        this.#pending.set(key, share);
      });
    }
    try {
      const all = await answer;
      const result = new Map<string, Uint32Array>();
      keys.forEach((key, index) => {
        const ids = all[index] ?? new Uint32Array();
        result.set(key, ids);
        if (memoise) this.#entries.set(key, ids);
        this.#options.onTokenized?.('engine', ids.length);
      });
      return result;
    } finally {
      if (memoise) for (const key of keys) this.#pending.delete(key);
    }
  }
}

function assemble(
  text: string,
  segments: readonly Segment[],
  keys: readonly string[],
  idsOfSegments: readonly Uint32Array[],
  { addedPrefix, addedSuffix }: TokenizeOptions,
): KnownTokens {
  const length = idsOfSegments.reduce(
    (sum, ids) => sum + ids.length,
    addedPrefix.length + addedSuffix.length,
  );
  const ids = new Uint32Array(length);
  ids.set(addedPrefix, 0);
  let at = addedPrefix.length;
  const reads: SegmentRead[] = [];
  segments.forEach((segment, index) => {
    reads.push({ key: keys[index] ?? '', tokenStart: at, textStart: segment.start });
    const segmentIds = idsOfSegments[index] ?? new Uint32Array();
    ids.set(segmentIds, at);
    at += segmentIds.length;
  });
  ids.set(addedSuffix, at);
  return { known: true, ids, source: 'engine', text, segments: reads };
}
