// The pages under docs/ and at the root against the code and each other: links, nouns, engines, routes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { engineKinds } from '../../src/engines/index.ts';
import { llamaRouteOf } from '../../src/engines/llama-server/routes.ts';
import { vllmRouteOf } from '../../src/engines/vllm/routes.ts';
import { filesBelow, root } from './source-files.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = [
  ...filesBelow('docs', '.md').map((path) => `docs/${path}`),
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
];

/** As the usual renderers make them of a heading. */
function anchorsOf(page: string): readonly string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    return heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
  });
}

describe('links', () => {
  for (const page of pages) {
    it(`of ${page} lead somewhere`, () => {
      const text = read(page).replaceAll(/^```[\s\S]*?^```/gm, '');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        assert.ok(existsSync(join(root, file)), target);
        if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), target);
      }
    });
  }
});

describe('docs/glossary.md', () => {
  it('names types and classes that src/ exports, nouns in order', () => {
    const rows = [...read('docs/glossary.md').matchAll(/^\| ([^|`]+?)\s*\|([^|]*)\|/gm)].slice(1);
    assert.ok(rows.length > 20);
    const nouns = rows.map(([, noun = '']) => noun);
    assert.deepEqual(nouns, nouns.toSorted());
    const code = filesBelow('src', '.ts').map((path) => read(`src/${path}`));
    for (const [, noun, cell = ''] of rows) {
      for (const [, type = ''] of cell.matchAll(/`(\w+)`/g)) {
        const exported = new RegExp(`^export (?:interface|type|class) ${type}\\b`, 'm');
        assert.ok(
          code.some((text) => exported.test(text)),
          `${noun}: ${type}`,
        );
      }
    }
  });
});

describe('docs/engines/', () => {
  it('has a page for every adapter and for nothing else', () => {
    const expected = engineKinds.filter((kind) => kind !== 'auto').map((kind) => `${kind}.md`);
    assert.deepEqual(filesBelow('docs/engines', '.md'), expected.toSorted());
  });

  for (const [kind, routeOf, file] of [
    ['llama-server', llamaRouteOf, 'llama-server/routes.ts'],
    ['vllm', vllmRouteOf, 'vllm/routes.ts'],
  ] as const) {
    it(`lists the generation routes of ${kind} as the adapter knows them`, () => {
      const page = read(`docs/engines/${kind}.md`);
      const table = page.slice(page.indexOf('<!-- routes -->'), page.indexOf('<!-- /routes -->'));
      const rows = [...table.matchAll(/^\| `([^`]+)`\s*\| `([^`]+)`\s*\| (yes|passes)/gm)];
      for (const [, path = '', routeKind, inspected] of rows) {
        const route = routeOf('POST', path);
        assert.deepEqual([route.kind, route.inspected], [routeKind, inspected === 'yes'], path);
      }
      const source = read(`src/engines/${file}`);
      const known = [...source.matchAll(/^ {2}\['([^']+)'/gm)].map(([, path]) => path);
      assert.deepEqual(rows.map(([, path]) => path).toSorted(), known.toSorted());
    });
  }
});
