// The lag watch tells a block of the event loop as long as it was.
import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { describe, it } from 'node:test';

import { watchEventLoopLag } from '../../src/metrics/event-loop-lag.ts';

describe('watchEventLoopLag', () => {
  it('tells a blocked loop, and nearly nothing while it is free', async () => {
    const told = new EventEmitter();
    const watch = watchEventLoopLag((seconds) => told.emit('lag', seconds), 60);
    const keepAlive = setInterval(() => undefined, 1000);
    try {
      await once(told, 'lag');
      setTimeout(() => {
        const until = performance.now() + 300;
        while (performance.now() < until);
      }, 30);
      const [blocked] = (await once(told, 'lag')) as [number];
      assert.ok(blocked > 0.2 && blocked < 2, `told ${blocked} s for a block of 0.3 s`);
    } finally {
      watch.stop();
      clearInterval(keepAlive);
    }
  });
});
