// The same question to the engine itself and through the proxy, by a real client. Never looks at what the proxy says: tests
// do.
import assert from 'node:assert/strict';
import { before, after } from 'node:test';
import { requestFindings, settled } from '../../support/exchanges.ts';
import { proxy, type ProxiedEngine } from '../../support/proxied-engine.ts';
import type { RealEngine } from '../../support/real-engine.ts';
import { expected } from '../../support/tested-engine.ts';

export interface BothWays {
  /** Through the proxy, with the path that clients call the base URL. */
  readonly baseUrl: () => string;
  readonly proxied: () => ProxiedEngine;
  /**
   * Asks the engine, then the proxy, and fails unless both answers are equal but for ids and times.
   * @param ask asks at a base URL; may ask several times
   */
  readonly same: <T>(ask: (baseUrl: string) => Promise<T>) => Promise<T>;
  /** The same for the pieces of a stream; by what they say together where the engine cuts no two replies alike. */
  readonly samePieces: <T>(ask: (baseUrl: string) => Promise<T[]>) => Promise<T[]>;
  /**
   * Fails unless so many exchanges settled, the engine counted each as we did, if it told a count, and no finding is above
   * info.
   */
  readonly assertClean: (exchanges: number) => Promise<void>;
}

/** A proxy of its own for the tests of the enclosing `describe`; its counts start from 0. */
export function bothWays(engine: RealEngine, settings: Readonly<Record<string, string>> = {}): BothWays {
  let opened: { readonly proxied: ProxiedEngine; readonly direct: string } | undefined;
  before(async () => {
    const direct = (await engine.server()).url;
    opened = { direct, proxied: await proxy(direct, settings) };
  });
  after(() => opened?.proxied.close());
  const open = (): NonNullable<typeof opened> => opened ?? assert.fail('asked before the tests began');
  const both = async <T>(ask: (baseUrl: string) => Promise<T>, shown: (answer: T) => unknown): Promise<T> => {
    const direct = await ask(`${open().direct}/v1`);
    const proxied = await ask(`${open().proxied.url}/v1`);
    assert.deepEqual(withoutIdsAndTimes(shown(proxied)), withoutIdsAndTimes(shown(direct)));
    return proxied;
  };
  return {
    baseUrl: () => `${open().proxied.url}/v1`,
    proxied: () => open().proxied,
    same: (ask) => both(ask, (answer) => answer),
    samePieces: (ask) => both(ask, expected.cutsAlike ? (pieces) => pieces : saidTogether),
    assertClean: async (exchanges) => {
      const { proxied } = open();
      await settled(proxied, exchanges);
      assert.equal(await proxied.metric('tokenweir_replies_total'), exchanges);
      const checks = (result: string): Promise<number> =>
        proxied.metric('tokenweir_count_checks_total', { result });
      const uncounted = expected.countsEveryStream ? 0 : await checks('absent');
      assert.equal((await checks('match')) + uncounted, exchanges);
      assert.equal(await proxied.metric('tokenweir_inspections_total', { result: 'ok' }), exchanges);
      assert.deepEqual(await requestFindings(proxied), []);
      const loud = (await proxied.findings()).filter(({ severity }) => severity !== 'info');
      assert.deepEqual(loud, []);
    },
  };
}

/** The pieces of a stream. `Array.fromAsync` came with Node 22. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const pieces: T[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

/** Random per answer, or the clock's. */
const volatile = new Set([
  ...['id', 'tool_call_id', 'toolCallId', 'tool_use_id', 'call_id', 'item_id'],
  ...['created', 'created_at', 'completed_at', 'timings'],
]);

function withoutIdsAndTimes(value: unknown): unknown {
  const text = JSON.stringify(value, (key, member: unknown) => (volatile.has(key) ? undefined : member));
  return JSON.parse(text) as unknown;
}

/** By kind of piece and place in it: texts that come bit by bit joined, else what was said last. */
function saidTogether(pieces: readonly unknown[]): object {
  const said = new Map<string, unknown>();
  for (const piece of pieces) {
    const { type = '' } = piece as { readonly type?: string };
    for (const [place, value] of leavesOf(piece, type)) {
      const before = said.get(place);
      const isBit = typeof value === 'string' && typeof before === 'string' && /delta|text/.test(place);
      said.set(place, isBit && !/\.(type|role)$/.test(place) ? before + value : value);
    }
  }
  return Object.fromEntries([...said].filter(([place]) => !place.endsWith('.sequence_number')));
}

function leavesOf(value: unknown, place: string): (readonly [string, unknown])[] {
  if (value === null || typeof value !== 'object') return [[place, value]];
  return Object.entries(value).flatMap(([name, inner]) =>
    volatile.has(name) ? [] : leavesOf(inner, `${place}.${name}`),
  );
}
