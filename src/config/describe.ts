/** The effective configuration for people and for the admin port: every key with its value and origin, secrets hidden. */
import { findingKinds } from '../exchange/finding.ts';
import { effectiveAction } from './effective.ts';
import { configKeys } from './keys.ts';
import { valueAt } from './layer.ts';
import type { LoadedConfig } from './load.ts';
import { redacted, shownValue } from './secrets.ts';

export interface DescribedKey {
  readonly key: string;
  /** As configured, redacted; absent if unset. Sizes are in bytes. */
  readonly value?: unknown;
  /** The value in one line. */
  readonly shown: string;
  /** `flag --mode`, `env TOKENWEIR_MODE`, `proxy.yaml:12`, `default` or `default of mode strict`. */
  readonly origin: string;
}

/** In the schema's order. */
export function describeConfig(loaded: LoadedConfig): readonly DescribedKey[] {
  return configKeys.map((key) => {
    const configured = valueAt(loaded.config, key.path);
    const byMode = configured === undefined ? actionByMode(loaded, key.name) : undefined;
    const value = configured ?? byMode;
    const origin = loaded.origins.get(key.name) ?? 'default';
    return {
      key: key.name,
      ...(value === undefined ? {} : { value: redacted(value, key.path) }),
      shown: shownValue(key, value),
      origin: byMode === undefined ? origin : `${origin} of mode ${loaded.config.mode}`,
    };
  });
}

/** What an action that is not configured comes to; undefined for every other key. */
function actionByMode({ config }: LoadedConfig, name: string): string | undefined {
  const kind = findingKinds.find((candidate) => name === `detectors.${candidate}.action`);
  return kind === undefined ? undefined : effectiveAction(config, kind);
}
