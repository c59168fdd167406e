/** Reads `TOKENWEIR_…` variables and command line flags into layers. Values keep the user's text where it does not fit. */
import { configFlags } from './flags.ts';
import { configKeys, findKey, type ConfigKey } from './keys.ts';
import { setAt, type Layer } from './layer.ts';
import { nearest } from './suggest.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
/** Flags as the command line parser gives them, by property name (`logLevel`). */
export type Flags = Readonly<Record<string, unknown>>;

/** Names the file; it is no key of the schema. */
export const fileVariable = 'TOKENWEIR_CONFIG';

const prefix = 'TOKENWEIR_';

/** Variables that are not settings: the test suite's own, and those Kubernetes sets for a Service named tokenweir. */
const notSettings = /^TOKENWEIR_(?:TEST_.*|SERVICE_(?:HOST|PORT.*)|PORT(?:_\d+_(?:TCP|UDP).*)?)$/;

/** An empty variable counts as not set. */
export function environmentLayer(env: Environment): Layer {
  const values: Record<string, unknown> = {};
  for (const key of configKeys) {
    const text = env[key.environmentName];
    if (text !== undefined && text !== '') setAt(values, key.path, parsedText(key, text));
  }
  const place = (path: readonly PropertyKey[]): string => {
    return `env ${keyHolding(path)?.environmentName ?? path.map(String).join('.')}`;
  };
  return { values, locate: place, originOf: place };
}

/** One line for each `TOKENWEIR_…` variable that sets nothing. */
export function unknownVariables(env: Environment): readonly string[] {
  const known = [fileVariable, ...configKeys.map((key) => key.environmentName)];
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name) && !notSettings.test(name))
    .toSorted()
    .map((name) => {
      // The common prefix would make every variable look near.
      const suggestion = nearest(withoutPrefix(name), known.map(withoutPrefix));
      return `env ${name}: no key has this variable; it is ignored.${suggestion ? ` Did you mean ${prefix}${suggestion}?` : ''}`;
    });
}

function withoutPrefix(name: string): string {
  return name.slice(prefix.length);
}

export function flagLayer(flags: Flags): Layer {
  const values: Record<string, unknown> = {};
  for (const { property, key: name } of configFlags) {
    const given = flags[property];
    const key = findKey(name);
    if (typeof given === 'string' && key) setAt(values, key.path, parsedText(key, given));
  }
  const place = (path: readonly PropertyKey[]): string => {
    const name = keyHolding(path)?.name;
    return `flag ${configFlags.find(({ key }) => key === name)?.flag ?? path.map(String).join('.')}`;
  };
  return { values, locate: place, originOf: place };
}

function keyHolding(path: readonly PropertyKey[]): ConfigKey | undefined {
  return configKeys.find((key) => key.path.every((segment, index) => segment === path[index]));
}

/** Text that is not of the key's form stays text, so that the error names what was given. */
function parsedText(key: ConfigKey, text: string): unknown {
  switch (key.textForm) {
    case 'text':
      return text;
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : text;
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
    case 'list':
      return text.split(',').map((item) => item.trim());
    case 'json':
      return parsedJson(text);
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
