// The same question to the engine itself and through the proxy, by a real client; what makes a model of random weights
// answer the same each time, and call a tool. Never looks at what the proxy says: tests do.
import assert from 'node:assert/strict';
import { before, after } from 'node:test';
import { requestFindings, settled } from '../../support/exchanges.ts';
import { proxy, type ProxiedEngine } from '../../support/proxied-engine.ts';
import type { RealEngine } from '../../support/real-engine.ts';

/** Greedy, and never from the cache: a prompt computed in other portions gives other last digits, so other words. */
export const repeatable = { temperature: 0, seed: 1, cache_prompt: false } as const;

/**
 * Makes Qwen3 with any weights write exactly `get_weather` with `{"city": "Oslo"}`, where the engine's grammar lets it
 * choose: by preference of the call's own tokens. The penalty is on the last token only, so that the opening marker,
 * which free text may repeat for ever, comes once.
 */
export const callingWeather = {
  presence_penalty: 30,
  repeat_last_n: 1,
  logit_bias: {
    '151645': 100, // <|im_end|>, which the grammar allows after a whole call only
    '151657': 60, // <tool_call>
    '198': 45, // the line break that belongs to it
    ...Object.fromEntries(
      // {" name ": " get _weather ", arguments {" city Os lo "}} </tool_call>
      [4913, 606, 788, 330, 455, 69364, 497, 16370, 5212, 8926, 28867, 385, 95642, 151658].map((id) => [
        id,
        20,
      ]),
    ),
  },
};

/** Room for one call, which takes about 25 tokens. */
export const roomForCall = 60;

export interface BothWays {
  /** Through the proxy, with the path that clients call the base URL. */
  readonly baseUrl: () => string;
  readonly proxied: () => ProxiedEngine;
  /**
   * Asks the engine, then the proxy, and fails unless both answers are equal but for ids and times.
   * @param ask asks at a base URL; may ask several times
   */
  readonly same: <T>(ask: (baseUrl: string) => Promise<T>) => Promise<T>;
  /** Fails unless so many exchanges settled, the engine counted each as we did, and no finding is above info. */
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
  return {
    baseUrl: () => `${open().proxied.url}/v1`,
    proxied: () => open().proxied,
    same: async (ask) => {
      const direct = await ask(`${open().direct}/v1`);
      const proxied = await ask(`${open().proxied.url}/v1`);
      assert.deepEqual(withoutIdsAndTimes(proxied), withoutIdsAndTimes(direct));
      return proxied;
    },
    assertClean: async (exchanges) => {
      const { proxied } = open();
      await settled(proxied, exchanges);
      assert.equal(await proxied.metric('tokenweir_replies_total'), exchanges);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), exchanges);
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
