// Resident memory per kept token: what the process grows by when sessions and segments fill, against what they count.
// Run: npm run bench -- memory   (starts itself again with --expose-gc)
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';

import { MemorySessionStore } from '../src/sessions/store-memory.ts';
import { compileMarkers } from '../src/tokens/markers.ts';
import { SegmentCache } from '../src/tokens/segment-cache.ts';
import { printTable } from './statistics.ts';

const MiB = 1024 * 1024;
const collect = (globalThis as { gc?: () => void }).gc;

if (collect === undefined) {
  const child = fork(import.meta.filename, { execArgv: ['--import', 'tsx', '--expose-gc'] });
  const [code] = (await once(child, 'exit')) as [number];
  process.exitCode = code;
} else {
  const resident = (): number => {
    collect();
    collect();
    return process.memoryUsage().rss;
  };
  const rows: string[][] = [];
  const measure = async (
    name: string,
    fill: () => Promise<{ tokens: number; counted: number; held: object }>,
  ): Promise<void> => {
    const before = resident();
    const { tokens, counted, held } = await fill();
    const grown = resident() - before;
    rows.push([
      name,
      tokens.toLocaleString('en'),
      (grown / tokens).toFixed(2),
      (counted / tokens).toFixed(2),
      (grown / counted).toFixed(2),
      held.constructor.name,
    ]);
  };

  for (const perTurn of [300, 3000, 30_000]) {
    await measure(`sessions of ${perTurn} tokens`, () => {
      const store = new MemorySessionStore({
        maxBytes: 1024 * MiB,
        maxAgeMs: 3_600_000,
        maxHeads: 4,
        digestKey: randomBytes(32),
        now: () => performance.now(),
      });
      const total = 12_000_000;
      for (let done = 0; done < total; done += perTurn) {
        const ids = new Uint32Array(perTurn).fill(done);
        const query = {
          model: 'm',
          client: 'c',
          key: { source: 'header' as const, value: String(done) },
          ids,
        };
        const match = store.lookup(query);
        store.remember(query, match, {
          ids,
          generated: new Uint32Array(),
          tail: { generationPrompt: 3, think: 0 },
          sequence: match.sequence,
        });
      }
      return Promise.resolve({ tokens: total, counted: store.bytes, held: store });
    });
  }
  for (const perSegment of [10, 100, 1000]) {
    await measure(`segments of ${perSegment} tokens`, async () => {
      const cache = new SegmentCache({ maxBytes: 1024 * MiB, digestKey: randomBytes(32) });
      const markers = compileMarkers([{ text: '<m>', id: 1 }]);
      const total = perSegment === 10 ? 2_000_000 : 10_000_000;
      for (let done = 0; done < total; done += perSegment) {
        await cache.tokenize(`<m>${done}`, {
          scope: 'm',
          markers,
          addedPrefix: [],
          addedSuffix: [],
          memoise: true,
          tokenizeMany: (texts) => Promise.resolve(texts.map(() => new Uint32Array(perSegment).fill(done))),
        });
      }
      return { tokens: total, counted: cache.bytes, held: cache };
    });
  }
  printTable(['kept', 'tokens', 'RSS bytes/token', 'counted bytes/token', 'RSS/counted', 'in'], rows);
}
