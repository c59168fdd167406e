/**
 * Tools in the form of another protocol, or with their schema under another protocol's name: the engine reads over what
 * they say and answers all the same. Where it refuses them nothing is said.
 */
import type { Finding } from '../../exchange/finding.ts';
import { isObject } from '../../exchange/json/body-reader.ts';
import { formatPath } from '../../exchange/json/json-path.ts';
import type { ChatDialect, ChatRequest, Json, JsonObject, JsonPath } from '../../exchange/request/request.ts';
import type { LostTool } from '../../exchange/written/lost-tools.ts';
import { holdsSent } from '../../exchange/written/text-place.ts';

const forms: Readonly<Record<ChatDialect, string>> = {
  openai: '{"type": "function", "function": {"name": …, "description": …, "parameters": {…}}}',
  anthropic: '{"name": …, "description": …, "input_schema": {…}}',
  responses: '{"type": "function", "name": …, "description": …, "parameters": {…}}',
};

/** What protocols and their libraries call a tool's schema; `inputSchema` is MCP's. */
const schemaNames = ['parameters', 'input_schema', 'inputSchema'];

const common = { kind: 'tools-dropped', severity: 'error', culprit: 'client', promptIndex: 0 } as const;

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
    cause: 'other-form',
    field,
    message: `The prompt does not name ${which}: ${form} of another protocol, and this route reads nothing of it.`,
    advice: `Send tools here as ${forms[dialect]}.`,
  };
}

/** Schemas where the engine looks for none, in tools that have none where it looks; not of one that reads them after all. */
export function misplacedSchemas(request: ChatRequest, rendered: string): readonly JsonPath[] {
  return request.tools.flatMap((tool, index) => {
    const misplaced = isObject(tool) ? misplacedSchema(tool, request.dialect) : undefined;
    if (misplaced === undefined) return [];
    const isRead = textsOf(misplaced.schema).every((text) => holdsSent(rendered, text));
    return isRead ? [] : [['tools', index, ...misplaced.within]];
  });
}

function misplacedSchema(
  tool: JsonObject,
  dialect: ChatDialect,
): { readonly within: JsonPath; readonly schema: JsonObject } | undefined {
  const definition = dialect === 'openai' ? tool['function'] : tool;
  if (!isObject(definition) || isOtherForm(tool, dialect)) return undefined;
  if (definition[schemaName(dialect)] !== undefined) return undefined;
  for (const name of schemaNames) {
    for (const [holder, within] of dialect === 'openai'
      ? ([
          [definition, ['function', name]],
          [tool, [name]],
        ] as const)
      : ([[tool, [name]]] as const)) {
      const schema = holder[name];
      if (isObject(schema) && Object.keys(propertiesOf(schema)).length > 0) return { within, schema };
    }
  }
  return undefined;
}

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

function schemaName(dialect: ChatDialect): string {
  return dialect === 'anthropic' ? 'input_schema' : 'parameters';
}

/** @param paths at least one */
export function misplacedSchemaFinding(paths: readonly JsonPath[], { dialect }: ChatRequest): Finding {
  const field = formatPath(paths[0] ?? ['tools']);
  const more = paths.length === 1 ? '' : ` (and ${paths.length - 1} more)`;
  return {
    ...common,
    cause: 'unread-schema',
    field,
    message: `The prompt does not hold ${field}${more}: the engine reads a tool's schema from ${dialect === 'openai' ? 'function.' : ''}${schemaName(dialect)}, and the model does not know which arguments the tool takes.`,
    advice: `Send tools here as ${forms[dialect]}.`,
  };
}
