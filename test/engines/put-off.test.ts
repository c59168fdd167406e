import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';

import { PutOff } from '../../src/engines/put-off.ts';

function noting(log: string[], name: string) {
  return () => {
    log.push(name);
    return Promise.resolve();
  };
}

describe('PutOff', () => {
  it('starts nothing before a reply has begun, and each thing once', () => {
    const log: string[] = [];
    const putOff = new PutOff();
    putOff.add(noting(log, 'first'));
    putOff.add(noting(log, 'second'));
    assert.deepEqual(log, []);
    putOff.release();
    putOff.release();
    assert.deepEqual(log, ['first', 'second']);
  });

  it('does not wait for ever where no reply begins', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const log: string[] = [];
      const putOff = new PutOff();
      putOff.add(noting(log, 'only'));
      mock.timers.tick(499);
      assert.deepEqual(log, []);
      mock.timers.tick(1);
      putOff.release();
      assert.deepEqual(log, ['only']);
    } finally {
      mock.timers.reset();
    }
  });
});
