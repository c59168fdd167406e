// Reloading: what changes at once, what waits for a restart, and that a mistake changes nothing.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { configKeys } from '../../src/config/keys.ts';
import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { isReloadable, reloadConfig } from '../../src/config/reload.ts';

let cwd = '';
before(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tokenweir-reload-'));
});
after(() => {
  rmSync(cwd, { recursive: true });
});

const sources = () => ({ flags: {}, env: {}, cwd });

function write(text: string): void {
  writeFileSync(join(cwd, 'proxy.yaml'), text);
}

function running(text: string): LoadedConfig {
  write(text);
  const result = loadConfig(sources());
  assert.equal(result.kind, 'loaded', JSON.stringify(result));
  return result;
}

describe('reload', () => {
  it('takes over what may change and keeps the rest, saying which is which', () => {
    const current = running('listen: 127.0.0.1:1\nmode: observe\n');
    write(
      '# moved\nlisten: 127.0.0.1:2\nmode: strict\nupstream:\n  apiKey: new\nclients:\n  a:\n    header: { name: x }\n',
    );
    const reload = reloadConfig(current, sources());
    assert.equal(reload.kind, 'swapped');
    assert.deepEqual(reload.changed, ['mode', 'clients']);
    assert.deepEqual(reload.ignored, ['upstream.apiKey', 'listen']);
    assert.equal(reload.config.mode, 'strict');
    assert.equal(reload.config.listen, '127.0.0.1:1');
    assert.deepEqual(reload.config.upstream, current.config.upstream);
    assert.equal(reload.origins.get('mode'), 'proxy.yaml:3');
    assert.equal(reload.origins.get('listen'), 'proxy.yaml:1');
  });

  it('leaves the running configuration object as it was', () => {
    const current = running('mode: observe\n');
    const before = structuredClone(current.config);
    write('mode: strict\nsessions:\n  heads: 2\n');
    reloadConfig(current, sources());
    assert.deepEqual(current.config, before);
  });

  it('rejects a file with a mistake', () => {
    const current = running('mode: observe\n');
    write('mode: strikt\n');
    const reload = reloadConfig(current, sources());
    assert.equal(reload.kind, 'rejected');
    assert.deepEqual(
      reload.errors.map(({ where }) => where),
      ['proxy.yaml:1:7'],
    );
  });

  it('says nothing changed if nothing did', () => {
    const current = running('mode: strict\n');
    const reload = reloadConfig(current, sources());
    assert.equal(reload.kind, 'swapped');
    assert.deepEqual([reload.changed, reload.ignored], [[], []]);
    assert.deepEqual(reload.config, current.config);
  });

  it('is possible for exactly these sections', () => {
    const fixed = configKeys.map((key) => key.name).filter((name) => !isReloadable(name));
    assert.deepEqual(fixed, [
      'upstream.url',
      'upstream.apiKey',
      'upstream.injectApiKey',
      'upstream.ca',
      'upstream.insecureTls',
      'engine.kind',
      'listen',
      'admin.listen',
      'admin.token',
      'admin.allowedHosts',
      'limits.segmentCacheBytes',
      'limits.modelLabels',
      'sessions.maxBytes',
      'sessions.ttlSeconds',
      'sessions.heads',
      'log.foldSeconds',
      'drain.timeoutSeconds',
    ]);
  });
});
