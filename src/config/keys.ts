/** The keys of the schema as a flat table: path, type, default, environment name. Reads the schema; adds no knowledge. */
import { z } from 'zod';
import { configSchema } from './schema.ts';

/** How a value is written where there is only text (environment, flags). */
type TextForm = 'text' | 'boolean' | 'number' | 'list' | 'json';

export interface ConfigKey {
  /** Segments from the root, e.g. `['inspection', 'budgetMs']`. */
  readonly path: readonly string[];
  /** The path joined by dots. */
  readonly name: string;
  readonly description: string;
  /** What is allowed, as in the error message. */
  readonly allowed: string;
  /** As it would be written in the file; undefined if the key is unset by default. */
  readonly defaultValue: unknown;
  /** `TOKENWEIR_INSPECTION_BUDGET_MS`. */
  readonly environmentName: string;
  readonly textForm: TextForm;
}

/** Every key that has a value of its own, in the schema's order. Maps and lists count as one key. */
export const configKeys: readonly ConfigKey[] = keysUnder(configSchema, []);

const keysByName = new Map(configKeys.map((key) => [key.name, key]));

/** @returns undefined for sections and for names that the schema does not have. */
export function findKey(name: string): ConfigKey | undefined {
  return keysByName.get(name);
}

/** True for a path that groups keys of the schema, e.g. `limits`; false for maps that the user names entries of. */
export function isSection(path: readonly string[]): boolean {
  return configKeys.some(
    (key) => key.path.length > path.length && path.every((segment, depth) => segment === key.path[depth]),
  );
}

/** The keys that a mapping at the path may have; undefined where the path is not a section or an entry of a map. */
export function allowedKeysAt(path: readonly PropertyKey[]): readonly string[] | undefined {
  let schema: z.core.$ZodType = configSchema;
  for (const segment of path) {
    const inner = unwrapped(schema);
    if (inner instanceof z.ZodObject) {
      const child = (inner.shape as Record<string, z.core.$ZodType | undefined>)[String(segment)];
      if (child === undefined) return undefined;
      schema = child;
    } else if (inner instanceof z.ZodRecord) schema = inner.valueType;
    else if (inner instanceof z.ZodArray) schema = inner.element;
    else return undefined;
  }
  const found = unwrapped(schema);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : undefined;
}

/** Upper snake case of a path: `detectors.double-bos.rejectWhen` is `TOKENWEIR_DETECTORS_DOUBLE_BOS_REJECT_WHEN`. */
export function environmentNameOf(path: readonly string[]): string {
  const words = path.map((segment) => segment.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('-', '_'));
  return ['TOKENWEIR', ...words].join('_').toUpperCase();
}

function keysUnder(schema: z.core.$ZodType, path: readonly string[]): readonly ConfigKey[] {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) {
    const shape = inner.shape as Readonly<Record<string, z.core.$ZodType>>;
    return Object.entries(shape).flatMap(([name, child]) => keysUnder(child, [...path, name]));
  }
  const key: ConfigKey = {
    path,
    name: path.join('.'),
    description: schema instanceof z.ZodType ? (schema.description ?? '') : '',
    allowed: allowedText(inner),
    defaultValue: defaultOf(schema),
    environmentName: environmentNameOf(path),
    textForm: textFormOf(inner),
  };
  return [key];
}

/** The schema without its default and optional wrappers. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodExactOptional
  ) {
    inner = inner.unwrap();
  }
  return inner;
}

function defaultOf(schema: z.core.$ZodType): unknown {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? schema.def.defaultValue
    : undefined;
}

/** No key accepts a symbol, so the first issue's text is the one that says what is allowed (value-types.ts). */
function allowedText(schema: z.core.$ZodType): string {
  return z.safeParse(schema, Symbol('nothing')).error?.issues[0]?.message ?? '';
}

function textFormOf(schema: z.core.$ZodType): TextForm {
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodRecord) return 'json';
  if (schema instanceof z.ZodArray) return schema.element instanceof z.ZodString ? 'list' : 'json';
  return 'text';
}
