/**
 * What a request says about its tools: names, descriptions, properties and the fields of their schemas, each with its place
 * in the body, whichever dialect it came in. `$ref` is not followed, so a circular schema is as long as it is written.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import type { ChatDialect, ChatRequest, Json, JsonObject, JsonPath } from '../request/request.ts';

export interface NamedPart {
  readonly text: string;
  readonly path: JsonPath;
}

/** A field of a schema that says what values are allowed, e.g. `default`, `enum`, `items`. */
export interface SchemaField {
  readonly keyword: string;
  readonly value: Json;
  readonly path: JsonPath;
}

export interface ToolProperty extends NamedPart {
  readonly description?: NamedPart;
}

export interface ToolParts {
  readonly name: string;
  readonly path: JsonPath;
  /** True for a tool that stands where the protocol once had it. */
  readonly unread: boolean;
  readonly description?: NamedPart;
  /** Those of the first level. */
  readonly properties: readonly ToolProperty[];
  readonly fields: readonly SchemaField[];
  /** What else the definition says, e.g. `return`, which Hugging Face's tool schemas have. */
  readonly members: readonly SchemaField[];
}

/** Fields that structure a schema, or are for a validator and not for a model. */
const structure = new Set([
  '$schema',
  '$id',
  '$comment',
  'additionalProperties',
  'description',
  'properties',
  'required',
  'strict',
  'type',
]);

/** Of a function's definition: told apart from what else it says, or for the engine and not for a model. */
const definitionMembers = new Set(['name', 'description', 'parameters', 'input_schema', 'strict', 'type']);

/** Tools with a name, in order. */
export function toolParts({ tools, json, dialect }: ChatRequest): readonly ToolParts[] {
  const { functions } = json;
  const parts: ToolParts[] = [];
  for (const [index, tool] of tools.entries()) addTool(parts, tool, ['tools', index], dialect);
  if (isArray(functions)) {
    for (const [index, one] of functions.entries()) addTool(parts, one, ['functions', index]);
  }
  return parts;
}

/** What a route calls a tool's schema. */
export function schemaNameOf(dialect: ChatDialect): 'input_schema' | 'parameters' {
  return dialect === 'anthropic' ? 'input_schema' : 'parameters';
}

/**
 * Of a tool that has the forms of two protocols, the one that its route reads.
 * @param dialect absent for a tool that no route reads
 */
function addTool(parts: ToolParts[], tool: Json, path: JsonPath, dialect?: ChatDialect): void {
  if (!isObject(tool)) return;
  const inner = tool['function'];
  const isWrapped = isObject(inner) && (dialect === 'openai' || typeof tool['name'] !== 'string');
  const definition = isWrapped ? inner : tool;
  const { name } = definition;
  if (typeof name === 'string' && name !== '')
    parts.push(new SentTool(name, path, definition, isWrapped, dialect));
}

/** What a tool that is not in the prompt has below its description is never asked for. */
class SentTool implements ToolParts {
  readonly name: string;
  readonly path: JsonPath;
  readonly unread: boolean;
  readonly description?: NamedPart;
  readonly #definition: JsonObject;
  readonly #isWrapped: boolean;
  /** Of the definition. */
  readonly #at: JsonPath;
  readonly #schemaName: 'input_schema' | 'parameters';

  constructor(
    name: string,
    path: JsonPath,
    definition: JsonObject,
    isWrapped: boolean,
    dialect: ChatDialect | undefined,
  ) {
    this.name = name;
    this.path = path;
    this.unread = dialect === undefined;
    this.#definition = definition;
    this.#isWrapped = isWrapped;
    this.#at = isWrapped ? [...path, 'function'] : path;
    const read = schemaNameOf(dialect ?? 'openai');
    const other = read === 'parameters' ? 'input_schema' : 'parameters';
    this.#schemaName = definition[read] === undefined ? other : read;
    const description = textAt(definition, 'description', this.#at);
    if (description !== undefined) this.description = description;
  }

  get properties(): readonly ToolProperty[] {
    return this.#inSchema(addProperties);
  }

  get fields(): readonly SchemaField[] {
    return this.#inSchema(addFields);
  }

  /** A tool without a definition of its own has members that are for the engine, e.g. `cache_control`. */
  get members(): readonly SchemaField[] {
    return this.#isWrapped ? membersOf(this.#definition, this.#at) : [];
  }

  #inSchema<Part>(add: (found: Part[], schema: JsonObject, path: JsonPath) => void): readonly Part[] {
    const found: Part[] = [];
    const schema = this.#definition[this.#schemaName];
    if (isObject(schema)) add(found, schema, [...this.#at, this.#schemaName]);
    return found;
  }
}

function membersOf(definition: JsonObject, path: JsonPath): SchemaField[] {
  const members: SchemaField[] = [];
  for (const keyword in definition) {
    const value = definition[keyword] ?? null;
    if (!definitionMembers.has(keyword) && value !== null)
      members.push({ keyword, value, path: [...path, keyword] });
  }
  return members;
}

function addProperties(found: ToolProperty[], schema: JsonObject, path: JsonPath): void {
  const { properties } = schema;
  if (!isObject(properties)) return;
  for (const text in properties) {
    const property = properties[text];
    const at = [...path, 'properties', text];
    const description = isObject(property) ? textAt(property, 'description', at) : undefined;
    found.push({ text, path: at, ...(description && { description }) });
  }
}

function textAt(object: JsonObject, name: string, path: JsonPath): NamedPart | undefined {
  const text = object[name];
  return typeof text === 'string' && text.trim() !== '' ? { text, path: [...path, name] } : undefined;
}

/** Those of the schema itself and of its properties; what stands below one of them is part of its value. */
function addFields(fields: SchemaField[], schema: JsonObject, path: JsonPath): void {
  for (const keyword in schema) {
    const value = schema[keyword];
    if (value !== undefined && !structure.has(keyword))
      fields.push({ keyword, value, path: [...path, keyword] });
  }
  const { properties } = schema;
  if (!isObject(properties)) return;
  for (const name in properties) {
    const property = properties[name];
    if (isObject(property)) addFields(fields, property, [...path, 'properties', name]);
  }
}
