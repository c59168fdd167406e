/**
 * What a reload may change while running. The comparison is pure; `reloadConfig` loads again from the same sources and
 * never touches the running configuration: the caller swaps it, or keeps it if the new one is rejected.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ConfigError } from './config-error.ts';
import { configKeys } from './keys.ts';
import { setAt, valueAt } from './layer.ts';
import { loadConfig, type ConfigSources, type LoadedConfig } from './load.ts';
import type { Config } from './schema.ts';

/** Keys and sections that are read once at start: sockets, connections and the sizes of what is already allocated. */
const startOnly = [
  'upstream',
  'engine.kind',
  'listen',
  'admin',
  'limits.segmentCacheBytes',
  'limits.modelLabels',
  'sessions',
  'log.foldSeconds',
  'drain',
] as const;

export interface ConfigChanges {
  /** Names of the keys whose new value holds from now on. */
  readonly changed: readonly string[];
  /** Names of the keys that differ but need a restart; the running value stays. */
  readonly ignored: readonly string[];
}

export type Reload =
  | ({ readonly kind: 'swapped' } & LoadedConfig & ConfigChanges)
  | { readonly kind: 'rejected'; readonly errors: readonly ConfigError[] };

/** @param name a key's full name, as in `configKeys`. */
export function isReloadable(name: string): boolean {
  return !startOnly.some((fixed) => name === fixed || name.startsWith(`${fixed}.`));
}

function compareConfigs(current: Config, next: Config): ConfigChanges {
  const differing = configKeys
    .filter((key) => !isDeepStrictEqual(valueAt(current, key.path), valueAt(next, key.path)))
    .map((key) => key.name);
  return {
    changed: differing.filter((name) => isReloadable(name)),
    ignored: differing.filter((name) => !isReloadable(name)),
  };
}

/**
 * Loads the configuration again.
 * @returns `swapped` with the configuration to use from now on, in which the ignored keys keep their running value and
 * origin; or `rejected` with every mistake, and then the running configuration stays.
 */
export function reloadConfig(current: LoadedConfig, sources: ConfigSources): Reload {
  const next = loadConfig(sources);
  if (next.kind === 'invalid') return { kind: 'rejected', errors: next.errors };
  const changes = compareConfigs(current.config, next.config);
  const config = structuredClone(next.config) as Config & Record<string, unknown>;
  const origins = new Map(next.origins);
  for (const fixed of startOnly) {
    // Each of these is a section or a key with a default, so there is always something to keep.
    setAt(config, fixed.split('.'), valueAt(current.config, fixed.split('.')));
  }
  for (const name of changes.ignored) origins.set(name, current.origins.get(name) ?? 'default');
  return { ...next, kind: 'swapped', config, origins, ...changes };
}
