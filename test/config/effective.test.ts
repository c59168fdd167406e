// What configuration comes to: actions by mode, severities, exemptions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  effectiveAction,
  effectiveAttribution,
  effectiveSeverity,
  isExempt,
} from '../../src/config/effective.ts';
import { configSchema, type Config } from '../../src/config/schema.ts';
import { findingKinds } from '../../src/exchange/finding.ts';

function config(input: unknown): Config {
  return configSchema.parse(input);
}

describe('actions', () => {
  it('are all pass in observe mode, whatever is configured', () => {
    const observing = config({
      detectors: { 'double-bos': { action: 'reject' }, 'raw-prompt': { action: 'reject' } },
    });
    for (const kind of findingKinds) assert.equal(effectiveAction(observing, kind), 'pass', kind);
  });

  it('reject a doubled BOS in strict mode, and only that, if nothing is configured', () => {
    const actions = findingKinds.map((kind) => [kind, effectiveAction(config({ mode: 'strict' }), kind)]);
    assert.deepEqual(
      actions.filter(([, action]) => action !== 'pass'),
      [['double-bos', 'reject']],
    );
  });

  it('are the configured ones in strict mode', () => {
    const strict = config({
      mode: 'strict',
      detectors: { 'double-bos': { action: 'pass' }, 'raw-prompt': { action: 'reject' } },
    });
    assert.equal(effectiveAction(strict, 'double-bos'), 'pass');
    assert.equal(effectiveAction(strict, 'raw-prompt'), 'reject');
  });
});

describe('attribution lines', () => {
  it('are kept unless strict mode is told otherwise', () => {
    const detectors = { 'prefix-break': { attributionLine: 'cut' } };
    assert.equal(effectiveAttribution(config({ mode: 'strict', detectors })), 'cut');
    assert.equal(effectiveAttribution(config({ mode: 'observe', detectors })), 'keep');
    assert.equal(effectiveAttribution(config({ mode: 'strict' })), 'keep');
  });
});

describe('severities', () => {
  const raised = config({ detectors: { 'prefix-break': { severity: 'error' } } });
  it('are as reported unless configured', () => {
    assert.equal(effectiveSeverity(raised, 'prefix-break', 'warning'), 'error');
    assert.equal(effectiveSeverity(raised, 'raw-prompt', 'warning'), 'warning');
  });
  it('stay info where the detector says info', () => {
    assert.equal(effectiveSeverity(raised, 'prefix-break', 'info'), 'info');
  });
});

describe('exemptions', () => {
  const exempting = config({
    inspection: { exempt: [{ route: 'completion', client: 'batch' }, { model: 'base-model' }] },
  });
  const table = [
    { request: { route: 'completion', client: 'batch', model: 'm' }, exempt: true },
    { request: { route: 'completion', client: 'web', model: 'm' }, exempt: false },
    { request: { route: 'completion' }, exempt: false },
    { request: { route: 'chat', client: 'batch' }, exempt: false },
    { request: { route: 'chat', model: 'base-model' }, exempt: true },
  ] as const;
  for (const { request, exempt } of table) {
    it(`${exempt ? 'hold' : 'do not hold'} for ${JSON.stringify(request)}`, () => {
      assert.equal(isExempt(exempting, request), exempt);
    });
  }
});
