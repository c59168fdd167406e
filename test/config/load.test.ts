// Where values come from: precedence and origins, the choice of the file, and mistakes over several sources at once.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { formatConfigError } from '../../src/config/config-error.ts';
import { loadConfig, type ConfigSources, type LoadedConfig } from '../../src/config/load.ts';

let cwd = '';
before(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tokenweir-config-'));
  writeFileSync(join(cwd, 'strict.yaml'), '# a comment\nmode: strict\nlog:\n  level: debug\n');
  writeFileSync(join(cwd, 'broken.yaml'), 'mode: loud\n');
  mkdirSync(join(cwd, 'with-default'));
  writeFileSync(join(cwd, 'with-default', 'proxy.yaml'), 'limits:\n  # all of it\n  requestBytes: 1GiB\n');
});
after(() => {
  rmSync(cwd, { recursive: true });
});

function load(sources: Partial<ConfigSources>): LoadedConfig {
  const result = loadConfig({ flags: {}, env: {}, cwd, ...sources });
  assert.equal(result.kind, 'loaded', JSON.stringify(result));
  return result;
}

function mistakes(sources: Partial<ConfigSources>): readonly string[] {
  const result = loadConfig({ flags: {}, env: {}, cwd, ...sources });
  assert.equal(result.kind, 'invalid');
  return result.errors.map(formatConfigError);
}

describe('precedence', () => {
  const flag = { mode: 'observe' };
  const env = { TOKENWEIR_MODE: 'observe' };
  const file = { TOKENWEIR_CONFIG: 'strict.yaml' };
  const table = [
    { title: 'default', flags: {}, env: {}, mode: 'observe', origin: 'default' },
    { title: 'file over default', flags: {}, env: file, mode: 'strict', origin: 'strict.yaml:2' },
    {
      title: 'environment over file',
      flags: {},
      env: { ...file, ...env },
      mode: 'observe',
      origin: 'env TOKENWEIR_MODE',
    },
    { title: 'flag over file', flags: flag, env: file, mode: 'observe', origin: 'flag --mode' },
    {
      title: 'flag over environment',
      flags: { mode: 'strict' },
      env: { ...file, ...env },
      mode: 'strict',
      origin: 'flag --mode',
    },
    {
      title: 'an empty variable is not set',
      flags: {},
      env: { ...file, TOKENWEIR_MODE: '' },
      mode: 'strict',
      origin: 'strict.yaml:2',
    },
  ];
  for (const { title, flags, env: variables, mode, origin } of table) {
    it(title, () => {
      const { config, origins } = load({ flags, env: variables });
      assert.equal(config.mode, mode);
      assert.equal(origins.get('mode'), origin);
    });
  }

  it('takes each key from its own strongest source', () => {
    const { config, origins } = load({ flags: { config: 'strict.yaml', upstream: 'http://a:1' } });
    assert.deepEqual([config.mode, config.log.level, config.upstream.url], ['strict', 'debug', 'http://a:1']);
    assert.equal(origins.get('log.level'), 'strict.yaml:4');
    assert.equal(origins.get('upstream.url'), 'flag --upstream');
    assert.equal(origins.get('log.foldSeconds'), 'default');
  });
});

describe('the file', () => {
  it('is proxy.yaml of the working directory if none is named', () => {
    const { config, file, origins } = load({ cwd: join(cwd, 'with-default') });
    assert.equal(file, 'proxy.yaml');
    assert.equal(config.limits.requestBytes, 1024 ** 3);
    assert.equal(origins.get('limits.requestBytes'), 'proxy.yaml:3');
  });

  it('may be missing if none is named', () => {
    assert.equal(load({}).file, undefined);
  });

  it('is the one of --config before the one of the environment', () => {
    assert.equal(
      load({ flags: { config: 'strict.yaml' }, env: { TOKENWEIR_CONFIG: 'broken.yaml' } }).file,
      'strict.yaml',
    );
  });

  it('is a mistake if it is named and missing, or a directory', () => {
    const remedy = 'name another with --config or TOKENWEIR_CONFIG';
    assert.deepEqual(mistakes({ flags: { config: 'no.yaml' } }), [
      `no.yaml: the configuration file does not exist; ${remedy}`,
    ]);
    assert.deepEqual(mistakes({ flags: { config: 'with-default' } }), [
      `with-default: the configuration file is a directory; ${remedy}`,
    ]);
  });
});

describe('mistakes', () => {
  it('are reported from all sources at once, also where a stronger source overrides them', () => {
    const allowed = 'allowed: "observe" or "strict"';
    assert.deepEqual(
      mistakes({
        flags: { config: 'broken.yaml', mode: 'strict', listen: 'nowhere' },
        env: { TOKENWEIR_INSPECTION_BUDGET_MS: 'soon' },
      }),
      [
        `broken.yaml:1:7: mode is "loud"; ${allowed}`,
        'env TOKENWEIR_INSPECTION_BUDGET_MS: inspection.budgetMs is "soon"; allowed: a whole number of milliseconds from 0 to 86400000',
        'flag --listen: listen is "nowhere"; allowed: HOST:PORT, such as 127.0.0.1:9930, 0.0.0.0:9930 or [::1]:9930',
      ],
    );
  });

  it('never show a secret from the environment', () => {
    const [message = ''] = mistakes({ env: { TOKENWEIR_CLIENTS: '{"a":{"keyHash":"hunter2"}}' } });
    assert.equal(
      message,
      'env TOKENWEIR_CLIENTS: clients.a.keyHash is (hidden); allowed: a SHA-256 digest: 64 lower-case hexadecimal digits',
    );
    const broken = mistakes({ env: { TOKENWEIR_CLIENTS: '{"keyHash": hunter2' } });
    assert.deepEqual(broken, ['env TOKENWEIR_CLIENTS: clients is text; allowed: a mapping of client names']);
  });
});
