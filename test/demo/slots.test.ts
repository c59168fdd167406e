// Reuse and slot choice of the demo engine, without HTTP.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SlotPool, type Lease } from '../../src/demo/slots.ts';

const always = new AbortController().signal;
const options = { cachePrompt: true, wantedSlot: undefined };

async function run(pool: SlotPool, prompt: number[], generated: number[] = []): Promise<Lease> {
  const lease = await pool.acquire(prompt, options, always);
  lease.release([...prompt, ...generated]);
  return lease;
}

describe('the slots of the demo engine', () => {
  it('reuse the common prefix with what the slot computed, generated tokens included', async () => {
    const pool = new SlotPool(1);
    assert.equal((await run(pool, [1, 2, 3], [4, 5])).reusedTokens, 0);
    assert.equal((await run(pool, [1, 2, 3, 4, 9, 9])).reusedTokens, 4);
  });

  it('compute at least one token of a prompt that they hold whole', async () => {
    const pool = new SlotPool(1);
    await run(pool, [1, 2, 3]);
    assert.equal((await run(pool, [1, 2, 3])).reusedTokens, 2);
  });

  it('reuse nothing with cache_prompt false', async () => {
    const pool = new SlotPool(1);
    await run(pool, [1, 2, 3]);
    const lease = await pool.acquire([1, 2, 3], { ...options, cachePrompt: false }, always);
    assert.equal(lease.reusedTokens, 0);
  });

  it('give a prompt to the most similar slot, and an unknown prompt to the least recently used one', async () => {
    const pool = new SlotPool(2);
    assert.equal((await run(pool, [1, 2, 3, 4])).slotId, 0);
    assert.equal((await run(pool, [7, 8, 9])).slotId, 1);
    assert.equal((await run(pool, [1, 2, 3, 5])).slotId, 0);
    assert.equal((await run(pool, [6, 6])).slotId, 1);
  });

  it('do not prefer a slot that shares a tenth of the prompt or less', async () => {
    const pool = new SlotPool(2);
    await run(pool, [1, 2]);
    const prompt = [1, ...Array.from({ length: 9 }, (_, index) => 50 + index)];
    assert.equal((await run(pool, prompt)).slotId, 1);
  });

  it('serve waiting requests in their order, and skip one that left', async () => {
    const pool = new SlotPool(1);
    const first = await pool.acquire([1], options, always);
    const order: string[] = [];
    const leaving = new AbortController();
    const left = pool.acquire([2], options, leaving.signal);
    const second = pool.acquire([3], options, always).then((lease) => {
      order.push('second');
      lease.release([3]);
    });
    const third = pool.acquire([4], options, always).then((lease) => {
      order.push('third');
      lease.release([4]);
    });
    leaving.abort();
    await assert.rejects(left, { name: 'AbortError' });
    first.release([1]);
    await Promise.all([second, third]);
    assert.deepEqual(order, ['second', 'third']);
    assert.ok(pool.states.every(({ isBusy }) => !isBusy));
  });

  it('wait for the one slot that a request names', async () => {
    const pool = new SlotPool(2);
    const held = await pool.acquire([1], { ...options, wantedSlot: 0 }, always);
    const waiting = pool.acquire([1], { ...options, wantedSlot: 0 }, always);
    held.release([1]);
    assert.equal((await waiting).slotId, 0);
  });
});
