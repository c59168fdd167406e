/** Reads the text of a YAML file into a layer that knows the line and column of every key. It does not validate values. */
import {
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
} from 'yaml';
import type { ConfigError } from './config-error.ts';
import { findKey, isSection } from './keys.ts';
import type { Layer, Place } from './layer.ts';

export type FileReading =
  | { readonly readable: true; readonly layer: Layer }
  | { readonly readable: false; readonly errors: readonly ConfigError[] };

/** @param name the file as the user named it; it stands in front of every message. */
export function readFileLayer(text: string, name: string): FileReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true });
  const positionOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const problem = (where: string, message: string): ConfigError => ({
    code: 'CONFIG_SYNTAX',
    where,
    key: '',
    message,
  });
  const mistakes = [...document.errors, ...document.warnings];
  if (mistakes.length > 0) {
    const errors = mistakes.map((mistake) => {
      return problem(positionOf(mistake.pos[0]), `not valid YAML: ${withoutSource(mistake.message)}`);
    });
    return { readable: false, errors };
  }
  if (document.contents !== null && !isMap(document.contents) && !isEmptyScalar(document.contents)) {
    const where = positionOf(document.contents.range[0]);
    return {
      readable: false,
      errors: [problem(where, 'the file is not a mapping; write keys as "mode: observe"')],
    };
  }
  const dangling = danglingAliases(document).map((offset) => {
    return problem(
      positionOf(offset),
      'not valid YAML: an alias without an anchor; quote text that begins with "*"',
    );
  });
  if (dangling.length > 0) return { readable: false, errors: dangling };
  const values = plainValues(document);
  if (values === undefined) {
    return {
      readable: false,
      errors: [problem(`${name}:1:1`, 'too many YAML aliases; write the values out')],
    };
  }
  const offsetOf = (path: readonly PropertyKey[], place: Place): number => findOffset(document, path, place);
  const layer: Layer = {
    values,
    locate: (path, place) => positionOf(offsetOf(path, place)),
    originOf: (path) => `${name}:${lines.linePos(offsetOf(path, 'key')).line}`,
  };
  return { readable: true, layer };
}

/** Offsets of `*name` without a `&name` before it. Text that begins with a star is the usual reason. */
function danglingAliases(document: Document): readonly number[] {
  const offsets: number[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) === undefined) offsets.push(alias.range?.[0] ?? 0);
    },
  });
  return offsets;
}

/** Aliases that expand beyond the parser's bound make it throw; that is the user's mistake, not ours. */
function plainValues(document: Document): Readonly<Record<string, unknown>> | undefined {
  try {
    const values: unknown = document.toJS({ maxAliasCount: 100 });
    return typeof values === 'object' && values !== null ? withoutEmptySections(values, []) : {};
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/** A section, map or list whose every line is commented out reads as null in YAML; here it means "nothing set". */
function withoutEmptySections(values: object, path: readonly string[]): Readonly<Record<string, unknown>> {
  const kept = Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
    const at = [...path, name];
    if (value === null && holdsOthers(at)) return [];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return [[name, withoutEmptySections(value, at)] as const];
    }
    return [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

function holdsOthers(path: readonly string[]): boolean {
  const form = findKey(path.join('.'))?.textForm;
  return form === 'list' || form === 'json' || isSection(path);
}

/** The offset of the deepest node on the path that exists: a missing key is reported at its section. */
function findOffset(document: Document, path: readonly PropertyKey[], place: Place): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [depth, segment] of path.entries()) {
    const wanted = place === 'key' && depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
      if (!pair) return offset;
      const key = pair.key as Node;
      const value = pair.value as Node | null;
      offset = (wanted ? key : (value ?? key)).range?.[0] ?? offset;
      node = value;
    } else if (isCollection(node)) {
      const item = node.get(segment, true) as Node | undefined;
      if (item === undefined) return offset;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else return offset;
  }
  return offset;
}

function isEmptyScalar(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}

/** The parser quotes the source after a colon; that text could be a secret. */
function withoutSource(message: string): string {
  return message.replace(/:.*$/s, '').replace(/\.$/, '');
}
