/** A mistake in the configuration as a value: where it is, what was given, what is allowed, what to do. Holds no secret. */

type ConfigErrorCode =
  | 'CONFIG_FILE_UNREADABLE'
  | 'CONFIG_SYNTAX'
  | 'CONFIG_UNKNOWN_KEY'
  | 'CONFIG_INVALID_VALUE'
  | 'CONFIG_CONFLICT';

export interface ConfigError {
  readonly code: ConfigErrorCode;
  /** `proxy.yaml:12:9`, `env TOKENWEIR_MODE` or `flag --mode`. */
  readonly where: string;
  /** The key's path, e.g. `inspection.exempt[0].route`; '' for a mistake that concerns no key. */
  readonly key: string;
  /** One line: what was given, what is allowed and what to do. */
  readonly message: string;
}

/** One line as a compiler would print it. */
export function formatConfigError(error: ConfigError): string {
  return `${error.where}: ${error.message}`;
}

/** `inspection.exempt[0].route`, `models["qwen3.5"].kind`. */
export function displayPath(path: readonly PropertyKey[]): string {
  return path
    .map((segment, index) => {
      if (typeof segment === 'number') return `[${segment}]`;
      const name = String(segment);
      if (!/^[\w-]+$/.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join('');
}
