import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { CircuitBreaker } from '../../../src/engines/oracle/circuit-breaker.ts';

function breaker() {
  const clock = { now: 0 };
  const changes: string[] = [];
  const subject = new CircuitBreaker({
    failures: 3,
    openMs: 1000,
    now: () => clock.now,
    onChange: (open, reason) => changes.push(`${open ? 'open' : 'closed'} ${reason}`),
  });
  return { clock, changes, subject };
}

describe('CircuitBreaker', () => {
  it('opens after failures in a row, with their reason', () => {
    const { subject, changes } = breaker();
    for (let call = 0; call < 3; call += 1) {
      assert.equal(subject.barred(), undefined);
      subject.note('oracle-timeout');
    }
    assert.equal(subject.barred(), 'oracle-timeout');
    assert.deepEqual(changes, ['open oracle-timeout']);
  });

  it('does not open for refusals: they are the request’s fault', () => {
    const { subject } = breaker();
    for (let call = 0; call < 10; call += 1) subject.note('oracle-refused');
    assert.equal(subject.barred(), undefined);
  });

  it('a success in between starts the count again', () => {
    const { subject } = breaker();
    for (const failure of ['oracle-timeout', 'oracle-timeout', undefined, 'oracle-timeout'] as const)
      subject.note(failure);
    assert.equal(subject.barred(), undefined);
  });

  it('lets one trial through after its time, and closes on success', () => {
    const { subject, clock, changes } = breaker();
    for (let call = 0; call < 3; call += 1) subject.note('engine-unreachable');
    clock.now = 1000;
    assert.equal(subject.barred(), undefined);
    assert.equal(subject.barred(), 'engine-unreachable');
    subject.note(undefined);
    assert.equal(subject.barred(), undefined);
    assert.deepEqual(changes, ['open engine-unreachable', 'closed engine-unreachable']);
  });

  it('stays open for another period if the trial failed', () => {
    const { subject, clock } = breaker();
    for (let call = 0; call < 3; call += 1) subject.note('engine-unreachable');
    clock.now = 1000;
    assert.equal(subject.barred(), undefined);
    subject.note('engine-unreachable');
    clock.now = 1999;
    assert.equal(subject.barred(), 'engine-unreachable');
    clock.now = 2000;
    assert.equal(subject.barred(), undefined);
  });
});
