/** Checks one layer against the schema and words every mistake. It knows no key: texts come from the schema. */
import type { z } from 'zod';
import { displayPath, type ConfigError } from './config-error.ts';
import { allowedKeysAt, configKeys, findKey } from './keys.ts';
import { valueAt, type Layer } from './layer.ts';
import { configSchema } from './schema.ts';
import { shownGiven } from './secrets.ts';
import { nearest } from './suggest.ts';

/** Every mistake in the layer, in the order of its lines. Every key is optional, so a layer is checked on its own. */
export function layerErrors(layer: Layer): readonly ConfigError[] {
  const parsed = configSchema.safeParse(layer.values);
  if (parsed.success) return [];
  return parsed.error.issues
    .flatMap((issue) => errorsOf(issue, layer))
    .toSorted((a, b) => a.where.localeCompare(b.where, 'en', { numeric: true }));
}

function errorsOf(issue: z.core.$ZodIssue, layer: Layer): readonly ConfigError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => unknownKey(issue.path, name, layer));
  }
  if (issue.code === 'invalid_key') {
    const allowed = issue.issues[0]?.message ?? issue.message;
    const name = JSON.stringify(String(issue.path.at(-1) ?? ''));
    const message = `the name ${name} under "${displayPath(issue.path.slice(0, -1))}"; allowed: ${allowed}`;
    return [invalid(issue.path, message, layer.locate(issue.path, 'key'))];
  }
  const given = valueAt(layer.values, issue.path);
  const expectsSection = issue.code === 'invalid_type' && ['object', 'record'].includes(issue.expected);
  const shown = shownGiven(given, issue.path, expectsSection);
  const words = issue.code === 'invalid_value' ? issue.values.map(String) : [];
  const suggestion = typeof given === 'string' ? nearest(given, words) : undefined;
  const remedy = suggestion === undefined ? '' : `. Did you mean "${suggestion}"?`;
  // A mapping that lacks keys is not wrong in what it has, so "given" would only repeat that it is a mapping.
  const verb = shown === 'a mapping' && issue.code === 'custom' ? 'lacks' : `is ${shown}; allowed:`;
  const message = `${displayPath(issue.path)} ${verb} ${issue.message}${remedy}`;
  return [invalid(issue.path, message, layer.locate(issue.path, 'value'))];
}

function unknownKey(section: readonly PropertyKey[], name: string, layer: Layer): ConfigError {
  const path = [...section, name];
  const siblings = allowedKeysAt(section) ?? [];
  const under = section.length === 0 ? 'at the top' : `under "${displayPath(section)}"`;
  const remedy = suggestedPath(section, name, siblings);
  return {
    code: 'CONFIG_UNKNOWN_KEY',
    where: layer.locate(path, 'key'),
    key: displayPath(path),
    message:
      `unknown key "${displayPath(path)}"; allowed ${under}: ${siblings.join(', ')}. ` +
      (remedy === undefined ? 'Remove it.' : `Did you mean "${remedy}"?`),
  };
}

/** A sibling that is spelled alike, else a key elsewhere whose last name is the same. */
function suggestedPath(
  section: readonly PropertyKey[],
  name: string,
  siblings: readonly string[],
): string | undefined {
  const sibling = nearest(name, siblings);
  if (sibling !== undefined) return displayPath([...section, sibling]);
  const dotted = findKey(name)?.name;
  return dotted ?? configKeys.find((key) => key.path.at(-1) === name)?.name;
}

function invalid(path: readonly PropertyKey[], message: string, where: string): ConfigError {
  return { code: 'CONFIG_INVALID_VALUE', where, key: displayPath(path), message };
}
