// The walls of docs/architecture.md: which way imports go, what pure folders may use, who may name an engine.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findingKinds } from '../../src/exchange/finding.ts';
import { filesBelow, readSource, readSources, root, type Import, type SourceFile } from './source-files.ts';

interface Allowance {
  /** Parts (folders or single files below src/) that the part may import. */
  readonly values: readonly string[];
  /** Parts of which it may import types only, beside those. */
  readonly types?: readonly string[];
}

/** From the top to the bottom. A part may always import itself; what is not named here is forbidden. */
const layers: Readonly<Record<string, Allowance>> = {
  cli: { values: ['commands', 'config/version.ts'] },
  commands: {
    values: ['server', 'config', 'log', 'check', 'doctor', 'demo', 'report', 'engines', 'exchange'],
    types: ['admin', 'metrics'],
  },
  server: {
    values: ['proxy', 'admin', 'pipeline', 'engines', 'sessions', 'config', 'metrics', 'log'],
    types: ['policies', 'exchange'],
  },
  // The transport: sees the inspection through exchange/inspection.ts only, so that neither knows the other.
  proxy: { values: ['exchange'] },
  admin: { values: ['exchange', 'metrics/exposition.ts'], types: ['sessions'] },
  // Puts the pipeline together as the server does, without a transport around it.
  check: {
    values: ['pipeline', 'sessions', 'metrics', 'tokens', 'report', 'exchange'],
    types: ['engines', 'config'],
  },
  doctor: { values: ['report', 'exchange'], types: ['engines'] },
  pipeline: {
    // effective.ts answers questions about a configuration that is already there; it reads none.
    values: ['detectors', 'policies', 'sessions', 'tokens', 'exchange', 'config/effective.ts'],
    types: ['engines', 'config', 'metrics'],
  },
  detectors: { values: ['tokens', 'exchange'] },
  policies: { values: ['exchange'] },
  engines: { values: ['tokens', 'exchange'] },
  sessions: { values: ['tokens', 'exchange'] },
  tokens: { values: ['exchange'] },
  // Beside the chain: each needs the nouns and nothing else of ours.
  config: { values: ['exchange'] },
  metrics: { values: ['exchange'] },
  log: { values: ['exchange'] },
  demo: { values: ['report'], types: ['exchange'] },
  report: { values: ['exchange'] },
  exchange: { values: [] },
};

const pureParts = ['exchange', 'tokens', 'detectors', 'sessions', 'policies', 'report'];
/** Stores may talk to a database one day; what is around them may not. */
const stores = 'sessions/store-';
const bannedInPure =
  /^(?:@fastify\/|(?:fastify|undici|pino|prom-client)(?:\/|$)|node:(?:https?|http2|fs|net|tls|dgram|child_process|worker_threads)(?:\/|$))/;

const engineNames = /llama|vllm|sglang|ollama|lm-?studio|tensorrt|text-generation-inference/i;
/** Adapters, the engine that is labelled as a demo, and the list of what `engine.kind` may be. */
const mayNameEngines = /^(?:engines\/|demo\/|config\/sections\/upstream\.ts$)/;

const maxLines = 300;
const emptyNames = /(?:^|-)(?:utils?|helpers?|manager|misc|impl)$|^(?:common|types|lib)$/;

const sources = readSources();

/** The folder, or the file's name at the top: `pipeline.ts` is the door of `pipeline/` and belongs to it. */
function partOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.ts$/, '');
}

function isWithin(target: string, names: readonly string[]): boolean {
  return names.includes(target) || names.includes(partOf(target));
}

function forbidden({ path, imports }: Pick<SourceFile, 'path' | 'imports'>): readonly Import[] {
  const allowance = layers[partOf(path)];
  return imports.filter(({ target, own, typeOnly }) => {
    if (!own || partOf(target) === partOf(path)) return false;
    const names = [...(allowance?.values ?? []), ...(typeOnly ? (allowance?.types ?? []) : [])];
    return !isWithin(target, names);
  });
}

function impureImports({ path, imports }: Pick<SourceFile, 'path' | 'imports'>): readonly Import[] {
  if (!pureParts.includes(partOf(path)) || path.startsWith(stores)) return [];
  return imports.filter(({ target, own }) => !own && bannedInPure.test(target));
}

function engineWords({ path, words }: Pick<SourceFile, 'path' | 'words'>): readonly string[] {
  return mayNameEngines.test(path) ? [] : words.filter((word) => engineNames.test(word));
}

/** The first way found from a node back to itself, or undefined. */
function cycleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const search = (node: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = search(next, [...way, node]);
      if (cycle !== undefined) return cycle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = search(node, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

function listed(path: string, imports: readonly Import[]): readonly string[] {
  return imports.map(({ target, typeOnly }) => `${path} → ${target}${typeOnly ? ' (type)' : ''}`);
}

describe('imports', () => {
  it('go only where the table of layers allows', () => {
    const wrong = sources.flatMap((source) => listed(source.path, forbidden(source)));
    assert.deepEqual(wrong, [], 'see "Layers" in docs/architecture.md');
  });

  it('are made by parts that the table names', () => {
    const parts = new Set(sources.map(({ path }) => partOf(path)));
    assert.deepEqual(
      [...parts].filter((part) => !(part in layers)),
      [],
      'a new part of src/ needs a line in the table and in docs/architecture.md',
    );
  });

  it('never run in a circle, between parts', () => {
    const graph = Object.entries(layers).map(([part, { values, types = [] }]): [string, string[]] => [
      part,
      [...values, ...types].map(partOf),
    ]);
    assert.equal(cycleIn(new Map(graph))?.join(' → '), undefined);
  });

  it('never run in a circle, between files, types included', () => {
    const graph = sources.map(({ path, imports }): [string, string[]] => [
      path,
      imports.filter(({ own }) => own).map(({ target }) => target),
    ]);
    assert.equal(cycleIn(new Map(graph))?.join(' → '), undefined);
  });

  it('of our own files all lead to a file', () => {
    const known = new Set([...filesBelow('src', '.ts'), ...filesBelow('src', '.json')]);
    const lost = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ own, target }) => own && !known.has(target))
        .map(({ target }) => `${path} → ${target}`),
    );
    assert.deepEqual(lost, []);
  });
});

describe('docs/architecture.md', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

  it('has the same table of layers', () => {
    const rows = page
      .slice(page.indexOf('<!-- layers -->'), page.indexOf('<!-- /layers -->'))
      .matchAll(/^\| `([^`]+)`\s*\|([^|]*)\|([^|]*)\|/gm);
    const written = [...rows].map(([, part = '', values = '', types = '']) => {
      return [part, namesIn(values), namesIn(types)];
    });
    const enforced = Object.entries(layers).map(([part, { values, types = [] }]) => [
      part,
      [...values].toSorted(),
      [...types].toSorted(),
    ]);
    assert.deepEqual(written, enforced);
  });

  it('names files that exist', () => {
    const named = [...page.matchAll(/`((?:src|test|docs|scripts)\/[^`*{}]+)`/g)].map(([, path = '']) => path);
    assert.ok(named.length > 20);
    assert.deepEqual(
      named.filter((path) => !existsSync(join(root, path))),
      [],
    );
  });
});

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).toSorted();
}

describe('pure folders', () => {
  it('use no server, client, logger, metrics library, file system or socket', () => {
    assert.deepEqual(
      sources.flatMap((source) => listed(source.path, impureImports(source))),
      [],
    );
  });
});

describe('engines', () => {
  it('are named in code by their adapters, the demo and the list of kinds alone', () => {
    const wrong = sources.flatMap((source) => engineWords(source).map((word) => `${source.path}: ${word}`));
    assert.deepEqual(wrong, []);
  });
});

describe('a check', () => {
  it('knows no kind of finding by its name: whatever the detectors say, it tells', () => {
    const kinds = new Set<string>(findingKinds);
    const own = sources.filter(({ path }) => /^check\/|^commands\/check/.test(path));
    assert.ok(own.length > 5);
    const named = own.flatMap(({ path, words }) =>
      words.filter((word) => kinds.has(word)).map((word) => `${path}: ${word}`),
    );
    assert.deepEqual(named, []);
  });
});

describe('files', () => {
  it(`have at most ${maxLines} lines`, () => {
    const long = sources.filter(({ lines }) => lines > maxLines);
    assert.deepEqual(
      long.map(({ path, lines }) => `${path}: ${lines}`),
      [],
    );
  });

  it('begin with a comment that says what they are for', () => {
    assert.deepEqual(
      sources.filter(({ header }) => header.length < 20).map(({ path }) => path),
      [],
    );
  });

  it('are named after something', () => {
    const paths = ['src', 'test', 'scripts'].flatMap((folder) =>
      filesBelow(folder, 's').map((path) => `${folder}/${path}`),
    );
    const empty = paths.filter((path) => path.split('/').some((part) => emptyNames.test(stem(part))));
    assert.deepEqual(empty, []);
  });
});

function stem(name: string): string {
  return name.replace(/\..*$/, '');
}

describe('the guards themselves', () => {
  const file = (path: string, text: string): SourceFile => readSource(path, text);

  it('see every form of import, and which leave nothing behind', () => {
    const { imports } = file(
      'proxy/a.ts',
      `import 'fs';
       import type { A } from '../x/a.ts';
       import { type B } from './b.ts';
       export * from '../x/c.ts';
       const d = await import('./d.ts');
       type E = import('../x/e.ts').E;
       new Worker(new URL('./f.ts', import.meta.url));
       const text = "import '../x/g.ts'"; // import '../x/h.ts'`,
    );
    assert.deepEqual(
      imports.map(({ target, typeOnly }) => [target, typeOnly]),
      [
        ['node:fs', false],
        ['x/a.ts', true],
        // verbatimModuleSyntax keeps the import itself.
        ['proxy/b.ts', false],
        ['x/c.ts', false],
        ['proxy/d.ts', false],
        ['x/e.ts', true],
        ['proxy/f.ts', false],
      ],
    );
  });

  it('refuse an import that nobody can follow', () => {
    assert.throws(() => file('proxy/a.ts', 'await import(name)'), /proxy\/a\.ts imports something computed/);
  });

  it('forbid the way up, and values where types are allowed', () => {
    const upward = file('exchange/a.ts', `import { decide } from '../policies/decide.ts';`);
    assert.equal(forbidden(upward).length, 1);
    assert.equal(
      forbidden(file('pipeline/a.ts', `import type { E } from '../engines/engine.ts';`)).length,
      0,
    );
    assert.equal(forbidden(file('pipeline/a.ts', `import { E } from '../engines/engine.ts';`)).length, 1);
    assert.equal(forbidden(file('pipeline/a.ts', `import { l } from '../config/load.ts';`)).length, 1);
    assert.equal(forbidden(file('pipeline.ts', `import { j } from './pipeline/judge.ts';`)).length, 0);
  });

  it('find what a pure folder must not use, in stores too unless they are named so', () => {
    const reads = `import { readFile } from 'node:fs/promises';`;
    assert.equal(impureImports(file('sessions/heads.ts', reads)).length, 1);
    assert.equal(impureImports(file('sessions/store-memory.ts', reads)).length, 0);
    assert.equal(impureImports(file('tokens/a.ts', `import { createHash } from 'node:crypto';`)).length, 0);
  });

  it('read engine names in code, not in comments', () => {
    assert.deepEqual(
      engineWords(file('proxy/a.ts', '// llama-server closes idle sockets\nconst a = 1;')),
      [],
    );
    assert.equal(engineWords(file('proxy/a.ts', 'const a = `${b} on vLLM`;')).length, 1);
    assert.equal(engineWords(file('proxy/a.ts', "if (engine.kind === 'llama-server') a();")).length, 1);
  });

  it('see a circle', () => {
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    assert.deepEqual(cycleIn(circle), ['b', 'c', 'b']);
  });

  it('do not take a comment further down for a header', () => {
    assert.equal(file('a.ts', 'const a = 1;\n// why').header, '');
    assert.equal(file('a.ts', '#!/usr/bin/env node\n// The command line.\n').header, '// The command line.');
  });
});
