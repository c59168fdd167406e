// Resident memory per kept token: what a process grows by when sessions or segments fill, against what they count; and
// that a small bound evicts. Each case has a process of its own, since pages that were given back are used again.
// Run: npm run bench -- memory
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';

import { MemorySessionStore } from '../src/sessions/store-memory.ts';
import { compileMarkers } from '../src/tokens/markers.ts';
import { SegmentCache } from '../src/tokens/segment-cache.ts';
import { printTable } from './statistics.ts';

const MiB = 1024 * 1024;

interface Filled {
  readonly tokens: number;
  readonly counted: number;
  /** Keeps what was filled alive until it is measured. */
  readonly held: object;
}

function fillSessions(tokensPerTurn: number, tokens: number, maxBytes: number) {
  const evicted = { turns: 0 };
  const store = new MemorySessionStore({
    maxBytes,
    maxAgeMs: 3_600_000,
    maxHeads: 4,
    digestKey: randomBytes(32),
    now: () => performance.now(),
    onEvicted: (_reason, turns) => {
      evicted.turns += turns;
    },
  });
  for (let done = 0; done < tokens; done += tokensPerTurn) {
    const ids = new Uint32Array(tokensPerTurn).fill(done);
    const query = { model: 'm', client: 'c', key: { source: 'header' as const, value: String(done) }, ids };
    const match = store.lookup(query);
    const tail = { generationPrompt: 3, think: 0 };
    store.remember(query, match, { ids, generated: new Uint32Array(), tail, sequence: match.sequence });
  }
  return { tokens, counted: store.bytes, held: store, evicted };
}

async function fillSegments(tokensPerSegment: number, tokens: number): Promise<Filled> {
  const cache = new SegmentCache({ maxBytes: 1024 * MiB, digestKey: randomBytes(32) });
  const markers = compileMarkers([{ text: '<m>', id: 1 }]);
  for (let done = 0; done < tokens; done += tokensPerSegment) {
    await cache.tokenize(`<m>${done}`, {
      scope: 'm',
      markers,
      addedPrefix: [],
      addedSuffix: [],
      memoise: true,
      tokenizeMany: (texts) => Promise.resolve(texts.map(() => new Uint32Array(tokensPerSegment).fill(done))),
    });
  }
  return { tokens, counted: cache.bytes, held: cache };
}

const cases: readonly { readonly name: string; readonly fill: () => Filled | Promise<Filled> }[] = [
  ...[300, 3000, 30_000].map((tokens) => ({
    name: `sessions of ${tokens} tokens`,
    fill: () => fillSessions(tokens, 12_000_000, 1024 * MiB),
  })),
  ...[10, 100, 1000].map((tokens) => ({
    name: `segments of ${tokens} tokens`,
    fill: () => fillSegments(tokens, tokens === 10 ? 2_000_000 : 10_000_000),
  })),
];

const collect = (globalThis as { gc?: () => void }).gc;
const only = cases[Number(process.argv[2] ?? -1)];

if (only !== undefined && collect !== undefined) {
  const used = (): { readonly rss: number; readonly live: number } => {
    collect();
    collect();
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
    return { rss, live: heapUsed + arrayBuffers };
  };
  const before = used();
  const { tokens, counted, held } = await only.fill();
  const after = used();
  const perToken = (bytes: number): string => (bytes / tokens).toFixed(2);
  process.send?.([
    only.name,
    tokens.toLocaleString('en'),
    perToken(counted),
    perToken(after.live - before.live),
    perToken(after.rss - before.rss),
    ((after.rss - before.rss) / counted).toFixed(2),
    held.constructor.name,
  ]);
  process.disconnect();
} else {
  const rows: string[][] = [];
  for (const index of cases.keys()) {
    const child = fork(import.meta.filename, [String(index)], {
      execArgv: ['--import', 'tsx', '--expose-gc'],
    });
    const [row] = (await once(child, 'message')) as [string[]];
    rows.push(row);
  }
  printTable(['kept', 'tokens', 'counted bytes/token', 'live', 'resident', 'resident/counted', 'in'], rows);
  const bound = 4 * MiB;
  const { counted, evicted } = fillSessions(3000, 12_000_000, bound);
  console.log(
    `\na bound of ${bound / MiB} MiB kept ${(counted / MiB).toFixed(2)} MiB and evicted ${evicted.turns} of 4000 sessions`,
  );
}
