// Bounds, ages, heads and the order of turns in the memory store; and that its account of memory is honest.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RequestDigest, SessionMatch } from '../../src/exchange/session-match.ts';
import { MemorySessionStore, type MemoryStoreOptions } from '../../src/sessions/store-memory.ts';
import type { EvictionReason, SessionQuery } from '../../src/sessions/store.ts';

const tail = { generationPrompt: 1, think: 0 };

class Clocked {
  now = 1;
  readonly evictions: [EvictionReason, number][] = [];
  readonly store: MemorySessionStore;

  constructor(options: Partial<MemoryStoreOptions> = {}) {
    this.store = new MemorySessionStore({
      maxBytes: 1 << 20,
      maxAgeMs: 1000,
      maxHeads: 4,
      digestKey: Buffer.alloc(16, 3),
      now: () => this.now,
      onEvicted: (reason, turns) => this.evictions.push([reason, turns]),
      ...options,
    });
  }

  /** A turn of user messages, one id per message and one for the generation prompt. */
  turn(messages: string, more: Partial<SessionQuery> = {}): { match: SessionMatch; keep: () => void } {
    const query: SessionQuery = { ...queryOf(messages), ...more };
    const match = this.store.lookup(query);
    const { ids, digest } = query;
    const keep = (): void => {
      this.store.remember(query, match, {
        ids,
        generated: new Uint32Array(),
        ...(digest && { digest }),
        tail,
        sequence: match.sequence,
      });
    };
    return { match, keep };
  }

  kept(messages: string, more: Partial<SessionQuery> = {}): SessionMatch {
    const { match, keep } = this.turn(messages, more);
    keep();
    return match;
  }
}

/** `abc`: the user message a, then what the letters b and c stand for. */
function queryOf(messages: string): SessionQuery & { readonly digest: RequestDigest } {
  const letters = Array.from(messages);
  return {
    model: 'model',
    client: 'client',
    ids: Uint32Array.from([...letters.map((letter) => letter.charCodeAt(0)), 0]),
    digest: {
      messages: letters.map((value) => ({ value, bytes: value })),
      roles: letters.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
      tools: [],
      options: '',
    },
  };
}

describe('MemorySessionStore', () => {
  it('remembers nothing by looking', () => {
    const { store } = new Clocked();
    store.lookup(queryOf('a'));
    assert.deepEqual([store.count, store.bytes, store.list(5)], [0, 0, []]);
  });

  it('replaces a turn by the one that goes on from it', () => {
    const clocked = new Clocked();
    const first = clocked.kept('a');
    const second = clocked.kept('abc');
    assert.equal(second.ancestor?.sequence, first.sequence);
    assert.equal(second.session, first.session);
    const [summary] = clocked.store.list(5);
    assert.deepEqual([summary?.heads, summary?.turns, summary?.tokens], [1, 2, 4]);
  });

  it('does not let an older turn take the place of a newer one', () => {
    const clocked = new Clocked();
    clocked.kept('a');
    const older = clocked.turn('abc');
    const newer = clocked.turn('abcde');
    newer.keep();
    older.keep();
    assert.equal(clocked.turn('abcdefg').match.ancestor?.ids.length, 6);
    assert.equal(clocked.store.list(5)[0]?.heads, 1);
  });

  it('keeps both of two turns that went different ways at the same time', () => {
    const clocked = new Clocked();
    clocked.kept('a');
    const [one, other] = [clocked.turn('abc'), clocked.turn('abd')];
    other.keep();
    one.keep();
    assert.equal(clocked.turn('abcde').match.commonMessages, 3);
    assert.equal(clocked.turn('abdde').match.commonMessages, 3);
  });

  it('keeps at most the given number of heads, and says so', () => {
    const clocked = new Clocked({ maxHeads: 2 });
    clocked.kept('abc');
    clocked.kept('abd');
    clocked.kept('abe');
    assert.equal(clocked.store.list(5)[0]?.heads, 2);
    assert.deepEqual(clocked.evictions, [['heads', 1]]);
    assert.equal(clocked.turn('abexy').match.commonMessages, 3);
  });

  it('begins a session for each conversation that begins alike, and one for each key', () => {
    const clocked = new Clocked();
    clocked.kept('abc');
    assert.equal(clocked.kept('a').ancestor, undefined);
    assert.equal(clocked.store.count, 2);
    const key = { source: 'header', value: 'k' } as const;
    const keyed = clocked.kept('abc', { key });
    assert.deepEqual([keyed.ancestor, keyed.keySource], [undefined, 'header']);
    assert.equal(clocked.turn('abcde', { key }).match.session, keyed.session);
    assert.equal(clocked.store.count, 3);
  });

  it('forgets the least recently used session beyond its bytes, and says so', () => {
    const clocked = new Clocked({ maxBytes: 20_000 });
    for (let index = 0; index < 100; index += 1) clocked.kept(String.fromCharCode(0x4e00 + index));
    assert.ok(clocked.store.bytes <= 20_000);
    assert.ok(clocked.store.count < 30);
    assert.equal(clocked.evictions.length, 100 - clocked.store.count);
    assert.deepEqual(clocked.evictions[0], ['bytes', 1]);
    assert.equal(clocked.turn(`${String.fromCharCode(0x4e00)}bc`).match.ancestor, undefined);
    assert.notEqual(clocked.turn(`${String.fromCharCode(0x4e00 + 99)}bc`).match.ancestor, undefined);
  });

  it('does not keep a turn that is larger than the bound', () => {
    const clocked = new Clocked({ maxBytes: 2000 });
    clocked.kept('a', { ids: new Uint32Array(1000) });
    assert.deepEqual([clocked.store.count, clocked.store.bytes], [0, 0]);
    assert.deepEqual(clocked.evictions, [['bytes', 1]]);
  });

  it('forgets idle sessions by age, also those that nobody asks for again', () => {
    const clocked = new Clocked({ maxAgeMs: 1000 });
    clocked.kept('a');
    clocked.now += 900;
    clocked.kept('xyz');
    clocked.now += 900;
    assert.equal(clocked.turn('abc').match.ancestor, undefined);
    assert.notEqual(clocked.turn('xyzab').match.ancestor, undefined);
    clocked.now += 999;
    clocked.kept('q');
    assert.deepEqual(clocked.evictions, [['age', 1]]);
    assert.equal(clocked.store.count, 2);
  });

  it('lists the newest sessions first and shows neither ids nor text', () => {
    const clocked = new Clocked();
    clocked.kept('a');
    clocked.now += 5;
    clocked.kept('b');
    const [newest, older] = clocked.store.list(5);
    assert.deepEqual([newest?.ageMs, older?.ageMs], [0, 5]);
    assert.equal(clocked.store.list(1).length, 1);
    assert.deepEqual(Object.keys(newest!).toSorted(), [
      'ageMs',
      'bytes',
      'client',
      'heads',
      'keySource',
      'model',
      'session',
      'tokens',
      'turns',
    ]);
  });

  it('keeps no buffer alive beyond the ids', () => {
    const clocked = new Clocked();
    clocked.kept('a', { ids: new Uint32Array(new ArrayBuffer(1 << 20), 0, 2) });
    const { match } = clocked.turn('abc', { ids: Uint32Array.of(0, 0, 1) });
    assert.equal(match.ancestor?.ids.buffer.byteLength, 8);
  });

  it('accounts for the memory that it takes', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = (): number => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const name = (): string => randomBytes(16).toString('base64url');
    const clocked = new Clocked({ maxBytes: 1 << 28 });
    clocked.kept('a');
    const before = used();
    const [counted, sessions] = [clocked.store.bytes, 4000];
    for (let index = 0; index < sessions; index += 1) {
      const messages = Array.from({ length: 6 }, () => ({ value: name(), bytes: name() }));
      const lines = Array.from({ length: 10 }, name);
      const system = {
        lines,
        timeMasked: [...lines],
        dateMasked: [...lines],
        attributionLines: [],
        wordSketch: [],
      };
      const digest = { messages, roles: messages.map(() => 'user'), tools: [], options: name(), system };
      clocked.kept('', { ids: new Uint32Array(200), digest });
    }
    const ratio = (clocked.store.bytes - counted) / (used() - before);
    assert.equal(clocked.store.count, sessions + 1);
    assert.ok(ratio > 0.85 && ratio < 1.3, `counted bytes are ${ratio} of what the heap grew by`);
  });
});
