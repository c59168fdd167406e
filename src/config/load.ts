/**
 * Loads the configuration: flags over environment over file over defaults, with the origin of every value. Mistakes
 * are values, all of them at once; only faults of our own throw. The one place in config/ that reads files.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConfigError } from './config-error.ts';
import { conflictsIn } from './conflicts.ts';
import {
  environmentLayer,
  fileVariable,
  flagLayer,
  unknownVariables,
  type Environment,
  type Flags,
} from './environment-layer.ts';
import { readFileLayer } from './file-layer.ts';
import { fileProblem } from './file-problem.ts';
import { configKeys } from './keys.ts';
import { setAt, valueAt, type Layer } from './layer.ts';
import { configSchema, type Config } from './schema.ts';
import { layerErrors } from './validate.ts';

export type { Config } from './schema.ts';

/** The file that is read from the working directory if none is named. */
const defaultFile = 'proxy.yaml';

export interface ConfigSources {
  readonly flags: Flags;
  readonly env: Environment;
  /** Relative paths start here. */
  readonly cwd: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** By key name: `flag --mode`, `env TOKENWEIR_MODE`, `proxy.yaml:12` or `default`. */
  readonly origins: ReadonlyMap<string, string>;
  /** The file that was read, as named; absent if there was none. */
  readonly file?: string;
  /** One line each: things that were ignored. */
  readonly warnings: readonly string[];
}

export type ConfigResult =
  | ({ readonly kind: 'loaded' } & LoadedConfig)
  | { readonly kind: 'invalid'; readonly errors: readonly ConfigError[] };

/** Each layer is checked whole, also where a higher one overrides it; what the layers contradict comes after that. */
export function loadConfig(sources: ConfigSources): ConfigResult {
  const fileName = configFileName(sources);
  const errors: ConfigError[] = [];
  const layers: Layer[] = [flagLayer(sources.flags), environmentLayer(sources.env)];
  if (fileName !== undefined) {
    const reading = readLayerFrom(fileName, sources.cwd);
    if (reading.readable) layers.push(reading.layer);
    else errors.push(...reading.errors);
  }
  errors.push(...layers.toReversed().flatMap((layer) => layerErrors(layer)));
  if (errors.length > 0) return { kind: 'invalid', errors };

  const { values, origins, places } = merged(layers);
  const config: Config = configSchema.parse(values);
  const conflicts = [...conflictsIn(config, places), ...unreadableFiles(config, places, sources.cwd)];
  if (conflicts.length > 0) return { kind: 'invalid', errors: conflicts };
  const warnings = unknownVariables(sources.env);
  return { kind: 'loaded', config, origins, warnings, ...(fileName === undefined ? {} : { file: fileName }) };
}

function configFileName({ flags, env, cwd }: ConfigSources): string | undefined {
  const flag = flags['config'];
  if (typeof flag === 'string') return flag;
  const variable = env[fileVariable];
  if (variable !== undefined && variable !== '') return variable;
  return existsSync(resolve(cwd, defaultFile)) ? defaultFile : undefined;
}

function readLayerFrom(name: string, cwd: string): ReturnType<typeof readFileLayer> {
  try {
    return readFileLayer(readFileSync(resolve(cwd, name), 'utf8'), name);
  } catch (error) {
    const reason = fileProblem(error);
    if (reason === undefined) throw error;
    const message = `the configuration file ${reason}; name another with --config or ${fileVariable}`;
    return { readable: false, errors: [{ code: 'CONFIG_FILE_UNREADABLE', where: name, key: '', message }] };
  }
}

function unreadableFiles(
  config: Config,
  places: ReadonlyMap<string, string>,
  cwd: string,
): readonly ConfigError[] {
  const { ca } = config.upstream;
  if (ca === undefined) return [];
  let problem: string | undefined;
  try {
    if (!statSync(resolve(cwd, ca)).isFile()) problem = 'is not a file';
  } catch (error) {
    problem = fileProblem(error);
    if (problem === undefined) throw error;
  }
  if (problem === undefined) return [];
  const where = places.get('upstream.ca') ?? 'upstream.ca';
  const message = `upstream.ca is ${JSON.stringify(ca)}, which ${problem}; allowed: the path of a PEM file`;
  return [{ code: 'CONFIG_FILE_UNREADABLE', where, key: 'upstream.ca', message }];
}

interface Merged {
  readonly values: Readonly<Record<string, unknown>>;
  readonly origins: ReadonlyMap<string, string>;
  /** As `origins`, with columns, for errors; without the keys that are at their default. */
  readonly places: ReadonlyMap<string, string>;
}

/** @param layers the strongest first. Maps and lists are taken whole from the strongest layer that has them. */
function merged(layers: readonly Layer[]): Merged {
  const values: Record<string, unknown> = {};
  const origins = new Map<string, string>();
  const places = new Map<string, string>();
  for (const key of configKeys) {
    const layer = layers.find((candidate) => valueAt(candidate.values, key.path) !== undefined);
    if (layer) setAt(values, key.path, valueAt(layer.values, key.path));
    origins.set(key.name, layer?.originOf(key.path) ?? 'default');
    if (layer) places.set(key.name, layer.locate(key.path, 'value'));
  }
  return { values, origins, places };
}
