/**
 * Tools in the form of another protocol, or with their schema under another protocol's name: the engine reads over what
 * they say and answers all the same. Where it refuses them nothing is said.
 */
import type { Finding } from '../../exchange/finding.ts';
import { isObject } from '../../exchange/json/body-reader.ts';
import { formatPath } from '../../exchange/json/json-path.ts';
import type { ChatDialect, ChatRequest, Json, JsonObject, JsonPath } from '../../exchange/request/request.ts';
import type { LostTool } from '../../exchange/written/lost-tools.ts';
import { schemaNameOf } from '../../exchange/written/tool-parts.ts';
import { holdsSent } from '../../exchange/written/text-place.ts';

const forms: Readonly<Record<ChatDialect, string>> = {
  openai: '{"type": "function", "function": {"name": …, "description": …, "parameters": {…}}}',
  anthropic: '{"name": …, "description": …, "input_schema": {…}}',
  responses: '{"type": "function", "name": …, "description": …, "parameters": {…}}',
};

/** What protocols and their libraries call a tool's schema; `inputSchema` is MCP's. */
const schemaNames = ['parameters', 'input_schema', 'inputSchema'];

const common = { kind: 'tools-dropped', culprit: 'client', promptIndex: 0 } as const;

/** @param tools that the prompt does not name */
export function inOtherForm(tools: readonly LostTool[], request: ChatRequest): readonly LostTool[] {
  return tools.filter(({ path: [root, index] }) => {
    const tool = root === 'tools' && typeof index === 'number' ? request.tools[index] : undefined;
    return isObject(tool) && isOtherForm(tool, request.dialect);
  });
}

function isOtherForm(tool: JsonObject, dialect: ChatDialect): boolean {
  if (dialect === 'anthropic') return isObject(tool['function']) && tool['name'] === undefined;
  return dialect === 'responses' && tool['type'] === undefined && typeof tool['name'] === 'string';
}

export function otherForm(tools: readonly LostTool[], { dialect }: ChatRequest): Finding {
  const field = formatPath(tools[0]?.path ?? ['tools']);
  const [which, form] =
    tools.length === 1
      ? [field, 'it has the form']
      : [`${field} and ${tools.length - 1} more`, 'they have the form'];
  return {
    ...common,
    severity: 'error',
    cause: 'other-form',
    field,
    message: `The prompt does not name ${which}: ${form} of another protocol, and this route reads nothing of it.`,
    advice: `Send tools here as ${forms[dialect]}.`,
  };
}

export interface MisplacedSchema {
  readonly path: JsonPath;
  /** True if another stands where the engine looks, which names other arguments. */
  readonly isSecond: boolean;
}

/**
 * Schemas where the engine looks for none, in tools that have none, or another one, where it looks; not of an engine that
 * reads them after all.
 */
export function misplacedSchemas(request: ChatRequest, rendered: string): readonly MisplacedSchema[] {
  return request.tools.flatMap((tool, index) => {
    const misplaced = isObject(tool) ? misplacedSchema(tool, request.dialect) : undefined;
    if (misplaced === undefined) return [];
    const isRead = textsOf(misplaced.schema).every((text) => holdsSent(rendered, text));
    return isRead ? [] : [{ path: ['tools', index, ...misplaced.within], isSecond: misplaced.isSecond }];
  });
}

function misplacedSchema(
  tool: JsonObject,
  dialect: ChatDialect,
): { readonly within: JsonPath; readonly schema: JsonObject; readonly isSecond: boolean } | undefined {
  const inner = tool['function'];
  const definition = dialect === 'openai' ? inner : tool;
  if (!isObject(definition) || isOtherForm(tool, dialect)) return undefined;
  const read = definition[schemaNameOf(dialect)];
  for (const name of schemaNames) {
    for (const [holder, within] of [
      [inner, ['function', name]],
      [tool, [name]],
    ] as const) {
      const schema = isObject(holder) ? holder[name] : undefined;
      if (schema === read || !isObject(schema)) continue;
      const named = Object.keys(propertiesOf(schema));
      if (named.length === 0) continue;
      if (saysNothing(read)) return { within, schema, isSecond: false };
      const known = isObject(read) ? propertiesOf(read) : {};
      if (Object.keys(known).length > 0 && named.some((one) => !(one in known)))
        return { within, schema, isSecond: true };
    }
  }
  return undefined;
}

/** True for none, and for one that allows no arguments: what it says of them with other words is not looked into. */
function saysNothing(schema: Json | undefined): boolean {
  if (!isObject(schema)) return true;
  return (
    Object.keys(propertiesOf(schema)).length === 0 &&
    Object.keys(schema).every((name) => framing.has(name)) &&
    !isObject(schema['additionalProperties'])
  );
}

const framing: ReadonlySet<string> = new Set(
  '$schema type title description properties required additionalProperties strict'.split(' '),
);

/** Names and descriptions: a name alone may stand anywhere. */
function textsOf(schema: JsonObject): string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, value]) => {
    const description = isObject(value) ? value['description'] : undefined;
    return typeof description === 'string' ? [name, description.trim()] : [name];
  });
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties: Json | undefined = schema['properties'];
  return isObject(properties) ? properties : {};
}

export function misplacedSchemaFindings(
  schemas: readonly MisplacedSchema[],
  request: ChatRequest,
): readonly Finding[] {
  return [false, true].flatMap((isSecond) => {
    const paths = schemas.filter((schema) => schema.isSecond === isSecond).map(({ path }) => path);
    return paths.length === 0 ? [] : [misplacedSchemaFinding(paths, isSecond, request.dialect)];
  });
}

function misplacedSchemaFinding(
  paths: readonly JsonPath[],
  isSecond: boolean,
  dialect: ChatDialect,
): Finding {
  const field = formatPath(paths[0] ?? ['tools']);
  const more = paths.length === 1 ? '' : ` (and ${paths.length - 1} more)`;
  const known = isSecond
    ? 'where another one stands, with other arguments'
    : 'and the model does not know which arguments the tool takes';
  return {
    ...common,
    cause: 'unread-schema',
    severity: isSecond ? 'info' : 'error',
    field,
    message: `The prompt does not hold ${field}${more}: the engine reads a tool's schema from ${dialect === 'openai' ? 'function.' : ''}${schemaNameOf(dialect)}, ${known}.`,
    advice: `Send tools here as ${forms[dialect]}${isSecond ? ', with one schema' : ''}.`,
  };
}
