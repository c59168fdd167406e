// The ring keeps the newest findings, and no flood of one severity washes another away.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { FindingsRing } from '../../src/admin/findings-ring.ts';
import { findingRecord } from '../log/finding-under-test.ts';

const ids = (ring: FindingsRing): string[] => ring.list({ limit: 100 }).map(({ requestId }) => requestId);

describe('FindingsRing', () => {
  it('drops the oldest when it is full, and still knows how many it has seen', () => {
    const ring = new FindingsRing(() => 2);
    for (const requestId of ['a', 'b', 'c']) ring.add(findingRecord({ requestId }));
    assert.deepEqual(ids(ring), ['c', 'b']);
    assert.equal(ring.seen, 3);
  });

  it('keeps fewer from the next finding on once it may keep fewer, and more again', () => {
    let kept = 4;
    const ring = new FindingsRing(() => kept);
    const add = (...added: string[]): void => {
      for (const requestId of added) ring.add(findingRecord({ requestId }));
    };
    add('a', 'b', 'c', 'd');
    kept = 2;
    add('e');
    assert.deepEqual(ids(ring), ['e', 'd']);
    kept = 3;
    add('f', 'g');
    assert.deepEqual(ids(ring), ['g', 'f', 'e']);
  });

  it('keeps an old error through a flood of infos', () => {
    const ring = new FindingsRing(() => 3);
    ring.add(findingRecord({ requestId: 'error', severity: 'error' }));
    for (let index = 0; index < 50; index += 1) {
      ring.add(findingRecord({ requestId: `info-${index}`, severity: 'info' }));
    }
    assert.deepEqual(ids(ring), ['info-49', 'info-48', 'error']);
  });

  it('keeps the newest record even where there is room for one only', () => {
    const ring = new FindingsRing(() => 1);
    ring.add(findingRecord({ requestId: 'old', severity: 'error' }));
    ring.add(findingRecord({ requestId: 'new', severity: 'info' }));
    assert.deepEqual(ids(ring), ['new']);
  });
});
