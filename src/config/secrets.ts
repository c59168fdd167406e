/** Which configuration values are secret, and how values are printed. Nothing prints a configured value but through this. */
import type { ConfigKey } from './keys.ts';
import { formatByteSize } from './byte-size.ts';

/** Paths whose values are never printed; `*` stands for any name. */
const secretPaths = [
  'upstream.apiKey',
  'admin.token',
  'clients.*.keyHash',
  'clients.*.header.value',
] as const;

const hidden = '(hidden)';
const longestShown = 80;

function isSecret(path: readonly PropertyKey[]): boolean {
  return secretPaths.some((pattern) => {
    const segments = pattern.split('.');
    return (
      segments.length === path.length &&
      segments.every((name, at) => name === '*' || name === String(path[at]))
    );
  });
}

/** A copy of a value at a path, with everything secret in it replaced by "(hidden)". */
export function redacted(value: unknown, path: readonly PropertyKey[]): unknown {
  if (value !== undefined && isSecret(path)) return hidden;
  if (Array.isArray(value)) return value.map((item, index) => redacted(item, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, redacted(item, [...path, name])]),
    );
  }
  return value;
}

/**
 * A wrong value for an error message. Lists and mappings are named, not shown: they could hold anything, as can text
 * where a whole section belongs (`expectsSection`).
 */
export function shownGiven(value: unknown, path: readonly PropertyKey[], expectsSection: boolean): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (isSecret(path)) return hidden;
  if (typeof value === 'string') {
    if (expectsSection) return 'text';
    const shown = withoutUrlSecrets(value);
    return JSON.stringify(shown.length > longestShown ? `${shown.slice(0, longestShown)}…` : shown);
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
}

/** A valid value of a key in one line, redacted; sizes as people write them. `(unset)` for undefined. */
export function shownValue(key: ConfigKey, value: unknown): string {
  if (value === undefined) return '(unset)';
  const safe = redacted(value, key.path);
  if (typeof safe === 'string') return safe;
  if (typeof safe === 'number' && key.textForm === 'text') return formatByteSize(safe);
  return JSON.stringify(safe);
}

/** Credentials stand before an `@` or in a query. */
function withoutUrlSecrets(value: string): string {
  return value.replace(/^.*@/s, `${hidden}@`).replace(/\?.*$/s, `?${hidden}`);
}
