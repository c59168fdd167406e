// The states of the breaker on rejections, with a clock that the test moves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RejectionBreaker, type BreakerState } from '../../src/policies/breaker.ts';

class Breaker {
  now = 0;
  readonly changes: BreakerState[] = [];
  readonly breaker: RejectionBreaker;

  constructor(maxRejectedRatio = 0.5, windowRequests = 10) {
    this.breaker = new RejectionBreaker({
      maxRejectedRatio,
      windowRequests,
      openMs: 1000,
      now: () => this.now,
      onChange: (state) => this.changes.push(state),
    });
  }

  record(requests: number, blocks: boolean): this {
    for (let request = 0; request < requests; request += 1) this.breaker.record(blocks);
    return this;
  }
}

describe('RejectionBreaker', () => {
  it('does not open before its window is full', () => {
    const { breaker } = new Breaker().record(9, true);
    assert.deepEqual([breaker.state, breaker.mayReject], ['closed', true]);
  });

  it('opens when more than the given share of the window blocks', () => {
    assert.equal(new Breaker().record(5, true).record(5, false).breaker.state, 'closed');
    const { breaker } = new Breaker().record(5, true).record(4, false).record(1, true);
    assert.deepEqual([breaker.state, breaker.mayReject], ['open', false]);
  });

  it('forgets what has left the window', () => {
    assert.equal(new Breaker().record(4, true).record(10, false).record(5, true).breaker.state, 'closed');
    assert.equal(new Breaker().record(10, false).record(6, true).breaker.state, 'open');
  });

  it('tries again after its time, and opens again or closes', () => {
    const worse = new Breaker().record(10, true);
    worse.now = 999;
    assert.equal(worse.breaker.state, 'open');
    worse.now = 1000;
    assert.deepEqual([worse.breaker.state, worse.breaker.mayReject], ['half-open', true]);
    worse.record(1, true);
    assert.equal(worse.breaker.state, 'open');

    const better = new Breaker().record(10, true);
    better.now = 1000;
    better.record(1, false);
    assert.equal(better.breaker.state, 'closed');
    assert.deepEqual(better.changes, ['open', 'half-open', 'closed']);
    assert.equal(better.record(8, true).breaker.state, 'closed', 'a new window must be full first');
  });

  it('never opens at a ratio of 1', () => {
    assert.equal(new Breaker(1).record(100, true).breaker.state, 'closed');
  });
});
