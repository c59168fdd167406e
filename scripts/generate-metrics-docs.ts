// Writes the metric tables of docs/metrics.md from the catalogue; the prose around them is kept.
// `--check` changes nothing and fails if the page is not what would be written.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { format, resolveConfig } from 'prettier';

import { catalogue, metricPrefix } from '../src/metrics/catalogue.ts';
import type { LabelSet, MetricDefinition, Moment } from '../src/metrics/metric-definition.ts';

const page = fileURLToPath(new URL('../docs/metrics.md', import.meta.url));

const moments: readonly Moment[] = ['before-forwarding', 'settle', 'machinery'];

function describeLabels(labels: Readonly<Record<string, LabelSet>>): string {
  const names = Object.keys(labels);
  return names.length === 0 ? '–' : names.map((name) => `\`${name}\``).join(', ');
}

/** The table of all metrics that move at one moment. */
function metricTable(moment: Moment): string {
  const rows = Object.entries<MetricDefinition>(catalogue)
    .filter(([, definition]) => definition.moment === moment)
    .map(([name, { type, labels, help, exemplars }]) => {
      const cells = [
        `\`${metricPrefix}${name}\``,
        type,
        describeLabels(labels),
        exemplars ? 'yes' : '–',
        help,
      ];
      return `| ${cells.join(' | ')} |`;
    });
  return ['| metric | type | labels | exemplars | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** Every label with all values it can have; labels of the same name and set share a row. */
function labelTable(): string {
  const rows = new Map<string, { metrics: string[]; label: string; values: string }>();
  for (const [name, { labels }] of Object.entries<MetricDefinition>(catalogue)) {
    for (const [label, set] of Object.entries(labels)) {
      const values = valuesOf(set);
      const row = rows.get(`${label} ${values}`) ?? { metrics: [], label, values };
      row.metrics.push(`\`${name}\``);
      rows.set(`${label} ${values}`, row);
    }
  }
  const lines = [...rows.values()].map(({ label, values, metrics }) => {
    return `| \`${label}\` | ${values} | ${metrics.length > 4 ? `${metrics.length} metrics` : metrics.join(', ')} |`;
  });
  return ['| label | values | of |', '|---|---|---|', ...lines].join('\n');
}

function valuesOf(set: LabelSet): string {
  if (set === 'model') return "the engine's own names, at most `limits.modelLabels`, then `other`; `unknown`";
  if (set === 'fact') return 'free text, one series per model or process';
  return set.map((value) => `\`${value}\``).join(', ');
}

/** The page with every generated block replaced, formatted as the repository is. Throws if the page lacks one. */
export async function generate(text: string): Promise<string> {
  const blocks = new Map([
    ...moments.map((moment): [string, string] => [moment, metricTable(moment)]),
    ['labels', labelTable()] satisfies [string, string],
  ]);
  let result = text;
  for (const [name, table] of blocks) {
    const open = `<!-- generated: ${name} -->`;
    const close = `<!-- end: ${name} -->`;
    const start = result.indexOf(open);
    const end = result.indexOf(close);
    if (start < 0 || end < start) throw new Error(`docs/metrics.md has no block "${open}" … "${close}"`);
    result = `${result.slice(0, start + open.length)}\n\n${table}\n\n${result.slice(end)}`;
  }
  return format(result, { ...(await resolveConfig(page)), parser: 'markdown' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(page, 'utf8');
  const after = await generate(before);
  if (!process.argv.includes('--check')) {
    writeFileSync(page, after);
  } else if (before !== after) {
    console.error(
      'docs/metrics.md is older than src/metrics/catalogue.ts: run scripts/generate-metrics-docs.ts',
    );
    process.exitCode = 1;
  }
}
