// The configuration exists several times: schema, JSON Schema, option tables, proxy.yaml, presets. They must agree.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { generatedConfigFiles } from '../../scripts/generate-config.ts';
import { formatConfigError } from '../../src/config/config-error.ts';
import { actionsFor } from '../../src/config/detector-actions.ts';
import { effectiveAction } from '../../src/config/effective.ts';
import { configFlags } from '../../src/config/flags.ts';
import { configKeys, findKey } from '../../src/config/keys.ts';
import { valueAt } from '../../src/config/layer.ts';
import { loadConfig, type Config } from '../../src/config/load.ts';
import { readFileLayer } from '../../src/config/file-layer.ts';
import { configSchema } from '../../src/config/schema.ts';
import { layerErrors } from '../../src/config/validate.ts';
import { detectors } from '../../src/detectors/index.ts';
import { findingKinds } from '../../src/exchange/finding.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const presets = readdirSync(join(root, 'config/presets')).map((name) => `config/presets/${name}`);
const examples = readdirSync(join(root, 'config/examples')).map((name) => `config/examples/${name}`);

function load(file: string): Config {
  const result = loadConfig({ flags: { config: file }, env: {}, cwd: root });
  assert.equal(result.kind, 'loaded', JSON.stringify(result));
  return result.config;
}

/** proxy.yaml with every setting switched on: settings are commented without a space after the sign, prose with one. */
function switchedOn(): string {
  return read('proxy.yaml').replaceAll(/^( *)#(?=[a-zA-Z])/gm, '$1');
}

describe('generated files', async () => {
  for (const { path, text } of await generatedConfigFiles()) {
    it(`${path} is what scripts/generate-config.ts writes`, () => {
      assert.ok(read(path) === text, 'run: node --import tsx scripts/generate-config.ts');
    });
  }
});

describe('the schema', () => {
  it('has a section under "detectors" for every kind of finding, and no other', () => {
    const sections = new Set(
      configKeys.filter(({ path }) => path[0] === 'detectors').map(({ path }) => path[1]),
    );
    assert.deepEqual([...sections].toSorted(), [...findingKinds].toSorted());
  });

  it('allows rewriting exactly where the detector repairs', () => {
    for (const { kind, repairs } of detectors) {
      assert.equal(actionsFor(kind).includes('rewrite'), repairs, kind);
    }
  });

  for (const key of configKeys) {
    it(`describes ${key.name} in a sentence and says what is allowed`, () => {
      assert.match(key.description, /^[A-Z`].*[.?]$/);
      assert.match(key.allowed, /^[a-zA-Z"].{3,}/);
      assert.doesNotMatch(key.allowed, /Invalid/);
    });
  }

  it('has every key that a flag sets', () => {
    for (const { flag, key } of configFlags) assert.ok(findKey(key), `${flag} sets ${key}`);
  });
});

describe('proxy.yaml', () => {
  it('is valid and sets nothing', () => {
    assert.deepEqual(load('proxy.yaml'), configSchema.parse({}));
  });

  const reading = readFileLayer(switchedOn(), 'proxy.yaml');
  assert.ok(reading.readable);
  const { layer } = reading;

  it('is valid with every setting switched on', () => {
    assert.deepEqual(layerErrors(layer), []);
  });

  for (const key of configKeys) {
    it(`shows ${key.name}${key.defaultValue === undefined ? '' : ' with its default'}`, () => {
      const shown = valueAt(layer.values, key.path);
      assert.notEqual(shown, undefined);
      if (key.defaultValue !== undefined) assert.deepEqual(shown, key.defaultValue);
    });
  }

  it('shows the actions that strict mode takes if none is set', () => {
    const strict = configSchema.parse({ mode: 'strict' });
    for (const kind of findingKinds) {
      assert.equal(valueAt(layer.values, ['detectors', kind, 'action']), effectiveAction(strict, kind), kind);
    }
  });

  it('shows the highest severity that each detector reports', () => {
    for (const { kind, severity } of detectors) {
      assert.equal(valueAt(layer.values, ['detectors', kind, 'severity']), severity, kind);
    }
  });
});

describe('presets and examples', () => {
  for (const file of [...presets, ...examples]) {
    it(`${file} is valid`, () => {
      assert.ok(load(file));
    });
  }

  for (const preset of presets) {
    it(`${preset} names every kind and behaves as its mode alone would`, () => {
      const config = load(preset);
      for (const kind of findingKinds) {
        assert.notEqual(config.detectors[kind].action, undefined, kind);
        const byMode = configSchema.parse({ mode: config.mode });
        assert.equal(effectiveAction(config, kind), effectiveAction(byMode, kind), kind);
      }
      assert.equal(config.upstream.url, undefined);
    });
  }
});

describe('the JSON Schema', () => {
  const schema = z.fromJSONSchema(
    JSON.parse(read('config/tokenweir.schema.json')) as z.core.JSONSchema.JSONSchema,
  );

  for (const file of ['proxy.yaml', ...presets, ...examples]) {
    it(`accepts ${file}`, () => {
      assert.equal(schema.safeParse(parse(read(file))).error, undefined);
    });
  }
  it('accepts proxy.yaml with every setting switched on', () => {
    assert.equal(schema.safeParse(parse(switchedOn())).error, undefined);
  });
  it('refuses unknown keys and wrong choices', () => {
    for (const text of ['modes: strict', 'mode: strikt', 'limits: { requestByte: 1 }', 'clients: { a: 1 }']) {
      assert.equal(schema.safeParse(parse(text)).success, false, text);
    }
  });
});

describe('docs/configuration.md', () => {
  const page = read('docs/configuration.md');

  it('shows error messages as they are printed', () => {
    const given = readFileLayer('# 1\n# 2\nmode: strikt\ninspection:\n  budget: 100\n', 'proxy.yaml');
    assert.ok(given.readable);
    const messages = layerErrors(given.layer).map(formatConfigError);
    assert.ok(page.includes(`\`\`\`text\n${messages.join('\n')}\n\`\`\``), messages.join('\n'));
  });

  it('says which actions each kind can have', () => {
    for (const kind of findingKinds) {
      const actions = actionsFor(kind);
      const row = new RegExp(`^\\| \`${kind}\` +\\| ([^|]+) \\|`, 'm').exec(page)?.[1]?.trim();
      assert.equal(
        row,
        actions.length === 1 ? undefined : actions.map((action) => `\`${action}\``).join(', '),
        kind,
      );
    }
  });
});
