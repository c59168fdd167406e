// The proxy for one test: closed when the test is over, with what stands behind it.
import type { TestContext } from 'node:test';
import { gatedEngine, type GatedEngine } from './gated-engine.ts';
import { proxy, type ProxiedEngine } from './proxied-engine.ts';

type Settings = Readonly<Record<string, string>>;

/** @param settings as for `proxy` */
export async function openProxy(
  t: TestContext,
  upstream: string,
  settings: Settings = {},
): Promise<ProxiedEngine> {
  const proxied = await proxy(upstream, settings);
  t.after(() => proxied.close());
  return proxied;
}

/**
 * The proxy in front of a gate in front of the engine.
 * @param prepare what the gate is told before the proxy's first question
 */
export async function openGated(
  t: TestContext,
  engine: string | (() => string),
  settings: Settings = {},
  prepare: (gated: GatedEngine) => void = () => undefined,
): Promise<{ readonly gated: GatedEngine; readonly proxied: ProxiedEngine }> {
  const gated = await gatedEngine(engine);
  prepare(gated);
  const proxied = await proxy(gated.url, settings);
  t.after(async () => {
    await proxied.close();
    await gated.close();
  });
  return { gated, proxied };
}
