/**
 * What a request says about its tools: names, descriptions, properties and the fields of their schemas, each with its place
 * in the body, whichever dialect it came in. `$ref` is not followed, so a circular schema is as long as it is written.
 */
import { isArray, isObject } from './body-reader.ts';
import type { ChatRequest, Json, JsonObject, JsonPath } from './request.ts';

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
export function toolParts({ tools, json }: ChatRequest): readonly ToolParts[] {
  const { functions } = json;
  return [
    ...tools.flatMap((tool, index) => toolAt(tool, ['tools', index], false)),
    ...(isArray(functions) ? functions.flatMap((one, index) => toolAt(one, ['functions', index], true)) : []),
  ];
}

function toolAt(tool: Json, path: JsonPath, unread: boolean): ToolParts[] {
  if (!isObject(tool)) return [];
  const inner = tool['function'];
  const [definition, at] = isObject(inner) ? [inner, [...path, 'function']] : [tool, path];
  const { name } = definition;
  if (typeof name !== 'string' || name === '') return [];
  const schemaName = definition['parameters'] === undefined ? 'input_schema' : 'parameters';
  const schema = definition[schemaName];
  const schemaPath = [...at, schemaName];
  const description = textAt(definition, 'description', at);
  return [
    {
      name,
      path,
      unread,
      ...(description && { description }),
      properties: isObject(schema) ? propertiesOf(schema, schemaPath) : [],
      fields: isObject(schema) ? fieldsOf(schema, schemaPath) : [],
      // A tool without a definition of its own has members that are for the engine, e.g. `cache_control`.
      members: isObject(inner) ? membersOf(inner, at) : [],
    },
  ];
}

function membersOf(definition: JsonObject, path: JsonPath): SchemaField[] {
  return Object.entries(definition)
    .filter(([keyword, value]) => !definitionMembers.has(keyword) && value !== null)
    .map(([keyword, value]) => ({ keyword, value, path: [...path, keyword] }));
}

function propertiesOf(schema: JsonObject, path: JsonPath): ToolProperty[] {
  const { properties } = schema;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([text, property]) => {
    const at = [...path, 'properties', text];
    const description = isObject(property) ? textAt(property, 'description', at) : undefined;
    return { text, path: at, ...(description && { description }) };
  });
}

function textAt(object: JsonObject, name: string, path: JsonPath): NamedPart | undefined {
  const text = object[name];
  return typeof text === 'string' && text.trim() !== '' ? { text, path: [...path, name] } : undefined;
}

/** Those of the schema itself and of its properties; what stands below one of them is part of its value. */
function fieldsOf(schema: JsonObject, path: JsonPath): SchemaField[] {
  const own = Object.entries(schema)
    .filter(([keyword]) => !structure.has(keyword))
    .map(([keyword, value]) => ({ keyword, value, path: [...path, keyword] }));
  const { properties } = schema;
  if (!isObject(properties)) return own;
  const below = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) ? fieldsOf(property, [...path, 'properties', name]) : [],
  );
  return [...own, ...below];
}
