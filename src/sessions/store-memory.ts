/**
 * Sessions in this process's memory, bounded in bytes and in age. The ids are the prompt, so they never leave this
 * object except as an exchange's ancestor; what can be listed is pseudonyms and numbers.
 */
import { LRUCache } from 'lru-cache';
import type { SessionMatch, Turn } from '../exchange/session-match.ts';
import { keyedDigest } from '../tokens/digest.ts';
import { findAncestor, type Ancestor, type Descendant } from './ancestor.ts';
import { anySaltBucketOf, bucketOf, bucketsOf } from './buckets.ts';
import { placeTurn } from './heads.ts';
import { findLeftSalt, type LeftSalt } from './left-salt.ts';
import type { EvictionReason, SessionQuery, SessionStore, SessionSummary } from './store.ts';
import { sessionOverheadBytes, turnBytes, withOwnBuffers } from './turn-bytes.ts';

export interface MemoryStoreOptions {
  /** Bound in bytes, overhead included. */
  readonly maxBytes: number;
  /** How long an idle session is remembered. */
  readonly maxAgeMs: number;
  /** Live branches per session. */
  readonly maxHeads: number;
  /** Random per process. */
  readonly digestKey: Uint8Array;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly onEvicted?: (reason: EvictionReason, turns: number) => void;
}

interface Session {
  readonly client: string;
  readonly model: string;
  readonly keySource: SessionMatch['keySource'];
  /** Sessions in one bucket can be told apart only by their content; [] for a session that the client named. */
  readonly buckets: readonly string[];
  readonly heads: readonly Turn[];
  readonly turns: number;
  readonly bytes: number;
  readonly rememberedAt: number;
}

interface Candidate {
  /** The session's. */
  readonly name: string;
  readonly turn: Turn;
}

/** So many of the newest conversations that begin alike are compared; a search must not grow with traffic. */
const maxCandidates = 64;
const maxPurgeIntervalMs = 60_000;

export class MemorySessionStore implements SessionStore {
  readonly #options: MemoryStoreOptions;
  readonly #sessions: LRUCache<string, Session>;
  /** Names of unnamed sessions by bucket, least recently remembered first. */
  readonly #buckets = new Map<string, Set<string>>();
  #sequence = 0;
  #purgedAt: number;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#purgedAt = options.now();
    this.#sessions = new LRUCache({
      maxSize: options.maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      ttl: options.maxAgeMs,
      ttlResolution: 0,
      updateAgeOnGet: true,
      perf: { now: options.now },
      dispose: (session, name, reason) => {
        if (reason === 'set') return;
        this.#leaveBuckets(session, name);
        if (reason === 'evict') options.onEvicted?.('bytes', session.heads.length);
        if (reason === 'expire') options.onEvicted?.('age', session.heads.length);
      },
    });
  }

  get count(): number {
    return this.#sessions.size;
  }

  get bytes(): number {
    return this.#sessions.calculatedSize;
  }

  lookup(query: SessionQuery): SessionMatch {
    this.#sequence += 1;
    const named = this.#nameOf(query);
    const names = named === undefined ? this.#newestInBucket(bucketOf(query)) : [named];
    const found = ancestorFor(query, this.#headsOf(names));
    const { digest } = query;
    const common = {
      keySource: query.key?.source ?? ('ancestor' as const),
      sequence: this.#sequence,
      ...(digest && { digest }),
    };
    const left = found === undefined && named === undefined ? this.#leftSalt(query) : undefined;
    if (left?.isProven === true) {
      this.#sessions.get(left.candidate.name);
      return { ...common, ...matchOf(left), commonTokens: 0, saltChanged: true, leftSalt: true };
    }
    if (found === undefined || (named === undefined && startsAfresh(query, found))) {
      const session = named ?? keyedDigest(this.#options.digestKey, 'session', String(this.#sequence));
      return {
        ...common,
        session,
        commonMessages: 0,
        commonTokens: found?.commonTokens ?? 0,
        branches: false,
        ...(left && { leftSalt: true }),
      };
    }
    const { name, turn } = found.candidate;
    this.#sessions.get(name);
    return {
      ...common,
      ...matchOf(found),
      ...(turn.salt !== query.salt && { commonTokens: 0, saltChanged: true }),
    };
  }

  remember(query: SessionQuery, match: SessionMatch, turn: Turn): void {
    this.#purgeWhenDue();
    const { maxBytes, maxHeads, onEvicted, now } = this.#options;
    const known = this.#sessions.get(match.session);
    const own = withOwnBuffers(turn);
    const placed = placeTurn(known?.heads ?? [], own, match, maxHeads);
    if (placed.dropped > 0) onEvicted?.('heads', placed.dropped);
    const bytes = sessionOverheadBytes + placed.heads.reduce((sum, head) => sum + turnBytes(head), 0);
    if (bytes > maxBytes) {
      this.#sessions.delete(match.session);
      onEvicted?.('bytes', placed.heads.length);
      return;
    }
    const buckets = query.key === undefined ? bucketsOf(query, placed.heads) : [];
    if (known !== undefined) this.#leaveBuckets(known, match.session);
    for (const bucket of buckets) this.#enterBucket(bucket, match.session);
    this.#sessions.set(match.session, {
      client: query.client,
      model: query.model,
      keySource: match.keySource,
      buckets,
      heads: placed.heads,
      turns: (known?.turns ?? 0) + 1,
      bytes,
      rememberedAt: now(),
    });
  }

  list(limit: number): readonly SessionSummary[] {
    const now = this.#options.now();
    const summaries: SessionSummary[] = [];
    for (const [session, { client, model, keySource, heads, turns, bytes, rememberedAt }] of this.#sessions) {
      if (summaries.length >= limit) break;
      const tokens = heads.at(-1)?.ids.length ?? 0;
      const ageMs = now - rememberedAt;
      summaries.push({ session, client, model, keySource, heads: heads.length, turns, tokens, bytes, ageMs });
    }
    return summaries;
  }

  #nameOf({ model, client, key }: SessionQuery): string | undefined {
    return key && keyedDigest(this.#options.digestKey, 'named session', model, client, key.value);
  }

  #headsOf(names: readonly string[]): Candidate[] {
    return names.flatMap((name) => (this.#sessions.peek(name)?.heads ?? []).map((turn) => ({ name, turn })));
  }

  #leftSalt(query: SessionQuery): LeftSalt<Candidate> | undefined {
    if (query.salt === undefined) return undefined;
    const names = this.#newestInBucket(anySaltBucketOf(query));
    return findLeftSalt(wantedBy(query), query.salt, this.#headsOf(names));
  }

  #newestInBucket(bucket: string): string[] {
    return [...(this.#buckets.get(bucket) ?? [])].slice(-maxCandidates);
  }

  #enterBucket(bucket: string, name: string): void {
    const names = this.#buckets.get(bucket) ?? new Set();
    names.delete(name);
    names.add(name);
    this.#buckets.set(bucket, names);
  }

  #leaveBuckets({ buckets }: Session, name: string): void {
    for (const bucket of buckets) {
      const names = this.#buckets.get(bucket);
      if (names?.delete(name) && names.size === 0) this.#buckets.delete(bucket);
    }
  }

  /** Aged sessions go when they are met; those that nobody meets go here, without a timer. */
  #purgeWhenDue(): void {
    const now = this.#options.now();
    if (now - this.#purgedAt < Math.min(this.#options.maxAgeMs, maxPurgeIntervalMs)) return;
    this.#purgedAt = now;
    this.#sessions.purgeStale();
  }
}

/**
 * A first turn that others began with too, and that is not simply sent again, is somebody's new conversation. Counted as
 * a branch, the many that begin with "hi" would push each other out of one session.
 */
function startsAfresh(
  { ids, digest }: SessionQuery,
  found: {
    readonly branches: boolean;
    readonly commonTokens: number;
    readonly candidate: { readonly turn: Turn };
  },
): boolean {
  if (!found.branches || digest?.messages.length !== 1) return false;
  return found.candidate.turn.ids.length !== ids.length || found.commonTokens < ids.length;
}

/** What a lookup says of the turn that it found. */
function matchOf({ candidate, commonMessages, commonTokens, branches }: Ancestor<Candidate>) {
  return { session: candidate.name, ancestor: candidate.turn, commonMessages, commonTokens, branches };
}

function wantedBy({ ids, digest, key }: SessionQuery): Descendant {
  return { ids, ...(digest && { digest }), keyed: key !== undefined };
}

/** A turn under the same salt goes before one that the engine keeps apart; only a named session has others. */
function ancestorFor(query: SessionQuery, candidates: readonly Candidate[]): Ancestor<Candidate> | undefined {
  const within = candidates.filter(({ turn }) => turn.salt === query.salt);
  const found = findAncestor(wantedBy(query), within);
  return found !== undefined || within.length === candidates.length || query.key === undefined
    ? found
    : findAncestor(wantedBy(query), candidates);
}
