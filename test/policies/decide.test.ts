// Every way to a decision: modes, rules, culprits, unknowns, unverified ids, the open breaker.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { culprits, findingKinds, severities, type Finding } from '../../src/exchange/finding.ts';
import { unknownReasons } from '../../src/exchange/token-read.ts';
import { decide, decideUnrepaired, type Decision, type DecisionInput } from '../../src/policies/decide.ts';

const finding = (more: Partial<Finding> = {}): Finding => ({
  kind: 'double-bos',
  severity: 'error',
  culprit: 'client',
  promptIndex: 0,
  message: 'Found.',
  advice: 'Fix.',
  ...more,
});
const repair = {
  edits: [{ start: 1, end: 2, replacement: '' }],
  proof: { by: 'ids', removesLeadingTokens: 1 },
} as const;
const strict = (more: Partial<DecisionInput> = {}): Decision =>
  decide({
    mode: 'strict',
    findings: [finding()],
    skipped: [],
    rules: { 'double-bos': { action: 'reject' } },
    onUnknown: 'forward',
    idsVerified: true,
    mayReject: true,
    ...more,
  });
const outcome = (decision: Decision): string =>
  decision.action === 'pass' ? decision.because : decision.action;

describe('decide', () => {
  it('only observes in observe mode', () => {
    assert.equal(
      outcome(
        strict({
          mode: 'observe',
          onUnknown: 'reject',
          skipped: [{ kind: 'double-bos', reason: 'oracle-timeout' }],
        }),
      ),
      'observing',
    );
  });

  it('rejects what the client did', () => {
    assert.deepEqual(strict(), { action: 'reject', finding: finding(), blocks: true });
  });

  it('passes what no rule is about', () => {
    assert.equal(outcome(strict({ rules: {} })), 'clean');
    assert.equal(outcome(strict({ findings: [] })), 'clean');
    assert.equal(outcome(strict({ findings: [finding({ kind: 'prefix-break' })] })), 'clean');
    assert.equal(outcome(strict({ rules: { 'double-bos': { action: 'pass' } } })), 'clean');
  });

  it('passes what the template, the engine or the model file did, unless a rule says always', () => {
    for (const culprit of ['template', 'engine', 'model-file'] as const) {
      const findings = [finding({ culprit })];
      assert.equal(outcome(strict({ findings })), 'not-the-client');
      const always = { 'double-bos': { action: 'reject', rejectWhen: 'always' } } as const;
      assert.equal(outcome(strict({ findings, rules: always })), 'reject');
    }
  });

  it('rewrites only what has an exact repair', () => {
    const rules = { 'double-bos': { action: 'rewrite' } } as const;
    const repairable = finding({ repair });
    assert.deepEqual(strict({ rules, findings: [repairable, finding({ promptIndex: 1 })] }), {
      action: 'rewrite',
      findings: [repairable],
      blocks: false,
    });
    assert.equal(outcome(strict({ rules })), 'no-repair');
  });

  it('rejects before it rewrites, and names the worst finding', () => {
    const decision = strict({
      findings: [
        finding({ repair }),
        finding({ kind: 'raw-prompt', severity: 'info' }),
        finding({ kind: 'raw-prompt', severity: 'warning' }),
      ],
      rules: { 'double-bos': { action: 'rewrite' }, 'raw-prompt': { action: 'reject' } },
    });
    assert.ok('finding' in decision);
    assert.equal(decision.finding.severity, 'warning');
  });

  it('blocks nothing on ids that the engine has contradicted', () => {
    assert.deepEqual(strict({ idsVerified: false }), {
      action: 'pass',
      because: 'ids-unverified',
      blocks: false,
    });
  });

  it('rejects the unknown only where that is asked for and a blocking detector lacked what it needs', () => {
    const skipped: Exchange['skipped'] = [{ kind: 'double-bos', reason: 'oracle-timeout' }];
    const unknown: Partial<DecisionInput> = { findings: [], skipped, onUnknown: 'reject' };
    assert.deepEqual(strict(unknown), { action: 'reject', lacked: skipped[0]!, blocks: true });
    assert.equal(outcome(strict({ ...unknown, onUnknown: 'forward' })), 'clean');
    assert.equal(outcome(strict({ ...unknown, rules: {} })), 'clean');
    assert.equal(
      outcome(strict({ ...unknown, skipped: [{ kind: 'double-bos', reason: 'exempt' }] })),
      'clean',
    );
    const both = strict({ skipped, onUnknown: 'reject' });
    assert.ok('finding' in both, 'what is known goes before what is not');
  });

  it('passes while the breaker is open, and says that it would have blocked', () => {
    assert.deepEqual(strict({ mayReject: false }), { action: 'pass', because: 'breaker-open', blocks: true });
    const rewritten = strict({
      mayReject: false,
      findings: [finding({ repair })],
      rules: { 'double-bos': { action: 'rewrite' } },
    });
    assert.equal(rewritten.action, 'rewrite');
  });

  it('never rejects a well-behaved client by the default rules', () => {
    const someFinding = fc.record({
      kind: fc.constantFrom(...findingKinds),
      severity: fc.constantFrom(...severities),
      culprit: fc.constantFrom(...culprits.filter((culprit) => culprit !== 'client')),
    });
    const someSkip = fc.record({
      kind: fc.constantFrom(...findingKinds),
      reason: fc.constantFrom(...unknownReasons),
    });
    const everyRule = Object.fromEntries(findingKinds.map((kind) => [kind, { action: 'reject' as const }]));
    fc.assert(
      fc.property(fc.array(someFinding), fc.array(someSkip), (findings, skipped) => {
        const decision = strict({ findings: findings.map((one) => finding(one)), skipped, rules: everyRule });
        assert.equal(decision.action, 'pass');
      }),
    );
  });
});

describe('decideUnrepaired', () => {
  const lacked = { kind: 'double-bos', reason: 'budget-exhausted', unprovenRepair: true } as const;

  it('lets a request go whose repair is refuted: there is no repair', () => {
    const decision = decideUnrepaired(undefined, { onUnknown: 'reject', mayReject: true });
    assert.deepEqual(decision, { action: 'pass', because: 'no-repair', blocks: false });
  });

  it('treats a repair that could not be proven as the operator has what is not known treated', () => {
    assert.equal(outcome(decideUnrepaired(lacked, { onUnknown: 'forward', mayReject: true })), 'no-repair');
    const rejected = decideUnrepaired(lacked, { onUnknown: 'reject', mayReject: true });
    assert.deepEqual(rejected, { action: 'reject', lacked, blocks: true });
    const suspended = decideUnrepaired(lacked, { onUnknown: 'reject', mayReject: false });
    assert.deepEqual(suspended, { action: 'pass', because: 'breaker-open', blocks: true });
  });
});
