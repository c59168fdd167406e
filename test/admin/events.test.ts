// The events API: newest first, by name and model, behind the same rules as findings; and the ring behind it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventsRing } from '../../src/admin/events-ring.ts';
import type { EngineEvent } from '../../src/exchange/engine-event.ts';
import { recordEvent } from '../../src/pipeline/engine-events.ts';
import { listening } from './admin-under-test.ts';

const at = new Date('2026-01-31T12:00:00Z');
function ringOf(...events: readonly EngineEvent[]): EventsRing {
  const ring = new EventsRing();
  for (const event of events) ring.add(recordEvent(event, at));
  return ring;
}

const slept: EngineEvent = { event: 'engine-cache-lost', modelName: 'a', reason: 'sleep' };
const events = ringOf(
  slept,
  { event: 'oracle-unavailable', reason: 'engine-unreachable' },
  { event: 'memoising-off', modelName: 'b' },
);

describe('the events API', () => {
  for (const [query, expected] of [
    ['', ['memoising-off', 'oracle-unavailable', 'engine-cache-lost']],
    ['?limit=1', ['memoising-off']],
    ['?event=oracle-unavailable', ['oracle-unavailable']],
    ['?model=a', ['engine-cache-lost']],
    ['?model=c', []],
  ] as const) {
    it(`answers ${query || 'no query'} newest first`, async (t) => {
      const ask = await listening(t, { events });
      const answer = (await ask(`/api/events${query}`)).json() as {
        readonly seen: number;
        readonly events: readonly { readonly event: string }[];
      };
      assert.equal(answer.seen, 3);
      assert.deepEqual(
        answer.events.map(({ event }) => event),
        expected,
      );
    });
  }

  it('answers records with their fields', async (t) => {
    const ask = await listening(t, { events });
    assert.deepEqual((await ask('/api/events?model=a')).json()['events'], [
      {
        event: 'engine-cache-lost',
        time: '2026-01-31T12:00:00.000Z',
        trouble: true,
        message: 'the engine has lost its cache: prompts are evaluated from their start once more',
        fields: { model: 'a', reason: 'sleep' },
      },
    ]);
  });

  it('refuses what it does not know and says what is allowed', async (t) => {
    const ask = await listening(t, { events });
    for (const query of ['event=restart', 'kind=double-bos', 'limit=0']) {
      const answer = await ask(`/api/events?${query}`);
      assert.equal(answer.status, 400);
      assert.match(String(answer.json()['detail']), /allowed: event=engine-cache-lost\|/);
    }
  });

  it('is closed off loopback when no token is configured, and open for the token', async (t) => {
    const closed = await listening(t, { events, access: { listenHost: '0.0.0.0' } });
    assert.equal((await closed('/api/events')).status, 403);
    const ask = await listening(t, { events, access: { listenHost: '0.0.0.0', token: 'secret' } });
    assert.equal((await ask('/api/events')).status, 401);
    assert.equal((await ask('/api/events', { authorization: 'Bearer secret' })).status, 200);
  });
});

describe('EventsRing', () => {
  it('keeps a rare event through a flood of another', () => {
    const flood = Array.from({ length: 1000 }, (): EngineEvent => ({
      event: 'oracle-available',
      reason: 'x',
    }));
    const ring = ringOf(slept, ...flood);
    assert.equal(ring.seen, 1001);
    assert.equal(ring.list({ limit: 1000 }).length, 200);
    assert.equal(ring.list({ event: 'engine-cache-lost', limit: 10 }).length, 1);
  });
});
