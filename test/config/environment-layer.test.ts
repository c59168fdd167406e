// The environment: names made from keys, values read by the key's type, and variables that are not ours left alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { environmentLayer, flagLayer, unknownVariables } from '../../src/config/environment-layer.ts';
import { configKeys, environmentNameOf } from '../../src/config/keys.ts';
import { valueAt } from '../../src/config/layer.ts';

describe('environment names', () => {
  const table = [
    ['listen', 'TOKENWEIR_LISTEN'],
    ['upstream.url', 'TOKENWEIR_UPSTREAM_URL'],
    ['inspection.budgetMs', 'TOKENWEIR_INSPECTION_BUDGET_MS'],
    ['detectors.double-bos.rejectWhen', 'TOKENWEIR_DETECTORS_DOUBLE_BOS_REJECT_WHEN'],
  ] as const;
  for (const [key, name] of table) {
    it(`names ${key} ${name}`, () => {
      assert.equal(environmentNameOf(key.split('.')), name);
    });
  }

  it('are different for every key', () => {
    assert.equal(new Set(configKeys.map((key) => key.environmentName)).size, configKeys.length);
  });
});

describe('environment values', () => {
  const table = [
    ['TOKENWEIR_PRIVACY_SHOW_TEXT', 'true', ['privacy', 'showText'], true],
    ['TOKENWEIR_PRIVACY_SHOW_TEXT', 'yes', ['privacy', 'showText'], 'yes'],
    ['TOKENWEIR_POLICIES_MAX_REJECTED_RATIO', '0.25', ['policies', 'maxRejectedRatio'], 0.25],
    ['TOKENWEIR_POLICIES_MAX_REJECTED_RATIO', '0x10', ['policies', 'maxRejectedRatio'], '0x10'],
    ['TOKENWEIR_LIMITS_REQUEST_BYTES', '1MiB', ['limits', 'requestBytes'], '1MiB'],
    ['TOKENWEIR_UPSTREAM_API_KEY', '31337', ['upstream', 'apiKey'], '31337'],
    ['TOKENWEIR_ADMIN_ALLOWED_HOSTS', 'a.internal, b', ['admin', 'allowedHosts'], ['a.internal', 'b']],
    ['TOKENWEIR_MODELS', '{"m":{"kind":"base"}}', ['models'], { m: { kind: 'base' } }],
  ] as const;
  for (const [name, text, path, value] of table) {
    it(`reads ${name}=${text}`, () => {
      const layer = environmentLayer({ [name]: text });
      assert.deepEqual(valueAt(layer.values, path), value);
      assert.equal(layer.originOf(path), `env ${name}`);
    });
  }

  it('sets nothing for an empty variable', () => {
    assert.deepEqual(environmentLayer({ TOKENWEIR_MODE: '', OTHER: 'x' }).values, {});
  });
});

describe('unknown variables', () => {
  it('are named with the one that was probably meant', () => {
    assert.deepEqual(unknownVariables({ TOKENWEIR_UPSTREAM_URI: 'x', TOKENWEIR_PLUGINS: 'y' }), [
      'env TOKENWEIR_PLUGINS: no key has this variable; it is ignored.',
      'env TOKENWEIR_UPSTREAM_URI: no key has this variable; it is ignored. Did you mean TOKENWEIR_UPSTREAM_URL?',
    ]);
  });

  it('do not include what Kubernetes sets for a Service of that name, the file or the test suite', () => {
    const injected = {
      TOKENWEIR_SERVICE_HOST: '10.0.0.1',
      TOKENWEIR_SERVICE_PORT: '9930',
      TOKENWEIR_SERVICE_PORT_HTTP: '9930',
      TOKENWEIR_PORT: 'tcp://10.0.0.1:9930',
      TOKENWEIR_PORT_9930_TCP_ADDR: '10.0.0.1',
      TOKENWEIR_CONFIG: 'proxy.yaml',
      TOKENWEIR_TEST_LLAMA_SERVER: 'llama-server',
    };
    assert.deepEqual(unknownVariables(injected), []);
  });
});

describe('flags', () => {
  it('set the key they stand for and name themselves as origin', () => {
    const layer = flagLayer({ admin: '127.0.0.1:1', logLevel: 'warn', json: true });
    assert.deepEqual(layer.values, { admin: { listen: '127.0.0.1:1' }, log: { level: 'warn' } });
    assert.equal(layer.originOf(['log', 'level']), 'flag --log-level');
  });
});
