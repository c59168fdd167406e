// A key that a reload says it changes is asked for again: none is read only when the server starts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { configKeys } from '../../src/config/keys.ts';
import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { isReloadable } from '../../src/config/reload.ts';
import { startDemoEngine } from '../../src/demo/engine.ts';
import { createLogger } from '../../src/log/logger.ts';
import { startServer } from '../../src/server.ts';
import { complete } from '../support/exchanges.ts';

const names = new Set(configKeys.map(({ name }) => name));

/** The same configuration, which notes each key that is read of it. */
function noting(loaded: LoadedConfig): { readonly loaded: LoadedConfig; readonly read: Set<string> } {
  const read = new Set<string>();
  const watch = <Part extends object>(part: Part, path: string): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof name !== 'string') return value;
        const full = path === '' ? name : `${path}.${name}`;
        if (names.has(full)) read.add(full);
        else if (typeof value === 'object' && value !== null) return watch(value, full);
        return value;
      },
    });
  return { loaded: { ...loaded, config: watch(loaded.config, '') }, read };
}

it('what is read at the start is read again after a reload, or needs a restart', async (t) => {
  const engine = await startDemoEngine({ tokenIntervalMs: 0 });
  t.after(() => engine.close());
  const env = {
    TOKENWEIR_UPSTREAM_URL: engine.url,
    TOKENWEIR_LISTEN: '127.0.0.1:0',
    TOKENWEIR_ADMIN_LISTEN: '127.0.0.1:0',
    TOKENWEIR_INSPECTION_BUDGET_MS: '20000',
  };
  const loaded = loadConfig({ flags: {}, env, cwd: '/nonexistent' });
  assert.equal(loaded.kind, 'loaded');
  const [atStart, later] = [noting(loaded), noting(loaded)];
  const server = await startServer({ ...atStart, logger: createLogger({ level: 'silent' }), cwd: '/' });
  t.after(() => server.drain());
  const reloadable = [...atStart.read].filter(isReloadable);
  assert.ok(atStart.read.has('sessions.maxBytes') && atStart.read.has('limits.segmentCacheBytes'));

  server.swapConfig(later.loaded);
  const answer = await complete(server, { prompt: '<bos>Hi', n_predict: 1 });
  assert.equal(answer.said.inspection, 'ok');
  assert.ok(answer.said.findings !== null, 'a finding is kept');
  assert.deepEqual(
    reloadable.filter((name) => !later.read.has(name)),
    [],
  );
  for (const name of ['mode', 'limits.findingsKept', 'limits.workerBytes', 'limits.requestBytes']) {
    assert.ok(later.read.has(name), name);
  }
});
