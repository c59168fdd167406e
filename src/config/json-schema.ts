/** The schema as JSON Schema, for editors: what may be written in proxy.yaml, with descriptions and defaults. */
import { z } from 'zod';
import { configKeys } from './keys.ts';
import { configSchema } from './schema.ts';

interface SchemaNode {
  type?: string | string[];
  properties?: Readonly<Record<string, SchemaNode>>;
}

/** The text of config/tokenweir.schema.json and of `tokenweir config --schema`. */
export function configJsonSchema(): string {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { io: 'input' });
  allowEmpty(rest as SchemaNode);
  const schema = {
    $schema,
    title: 'tokenweir configuration',
    description: 'proxy.yaml; see docs/configuration.md. Generated from src/config/schema.ts: do not edit.',
    ...rest,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Sections, maps and lists may be left empty in the file (file-layer.ts); YAML reads that as null. */
function allowEmpty(root: SchemaNode): void {
  const holders = new Set<SchemaNode>([root]);
  for (const key of configKeys) {
    let node: SchemaNode | undefined = root;
    for (const segment of key.path) {
      node = node?.properties?.[segment];
      if (node?.type === 'object' || node?.type === 'array') holders.add(node);
    }
  }
  for (const holder of holders) if (typeof holder.type === 'string') holder.type = [holder.type, 'null'];
}
