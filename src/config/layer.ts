/** One source of configured values (file, environment, flags) and where in it each value stands. */

export type Place = 'key' | 'value';

export interface Layer {
  /** Raw values in the schema's shape, not validated. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Where a path stands, for an error: `proxy.yaml:12:9`, `env TOKENWEIR_MODE`, `flag --mode`. */
  locate(path: readonly PropertyKey[], place: Place): string;
  /** Where a path was set, for the effective configuration: as `locate`, a file without the column. */
  originOf(path: readonly PropertyKey[]): string;
}

/** What is set at a path; undefined if nothing is. */
export function valueAt(values: unknown, path: readonly PropertyKey[]): unknown {
  let value = values;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[segment];
  }
  return value;
}

/** Sets a value in a tree that the caller owns, making the sections on the way. */
export function setAt(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let section = tree;
  for (const name of path.slice(0, -1)) {
    const next = (section[name] ?? {}) as Record<string, unknown>;
    section[name] = next;
    section = next;
  }
  const last = path.at(-1);
  if (last !== undefined) section[last] = value;
}
