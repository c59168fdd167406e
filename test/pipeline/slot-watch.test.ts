// When conversations are more than slots, and the many requests that are no conversations.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineEvent } from '../../src/exchange/engine-event.ts';
import { SlotWatch } from '../../src/pipeline/slot-watch.ts';
import { buildExchange, factsOf } from '../support/exchange-builder.ts';

function watching(slots: number, flag?: string) {
  const events: EngineEvent[] = [];
  let minutes = 0;
  const watch = new SlotWatch({
    now: () => minutes * 60_000,
    flag: () => flag,
    onEvent: (event) => events.push(event),
  });
  return {
    events,
    wait: (more: number) => (minutes += more),
    turn: (...sessions: readonly string[]) => {
      for (const session of sessions) {
        const exchange = buildExchange({
          route: 'completion',
          body: { prompt: 'Hi' },
          facts: { ...factsOf.qwen3, slots },
          session: {
            session,
            keySource: 'ancestor',
            sequence: 1,
            commonMessages: 0,
            commonTokens: 0,
            branches: false,
          },
        });
        watch.note(exchange);
      }
    },
  };
}

const modelName = factsOf.qwen3.modelName;

describe('SlotWatch', () => {
  it('tells of the first conversation for which there is no slot, with the flag to raise', () => {
    const { events, turn } = watching(2, '--slots');
    turn('a', 'a', 'b', 'b');
    assert.deepEqual(events, []);
    turn('c', 'c');
    assert.deepEqual(events, [
      { event: 'slots-oversubscribed', modelName, slots: 2, sessions: 3, flag: '--slots' },
    ]);
  });

  it('takes no single request for a conversation, however many there are', () => {
    const { events, turn } = watching(1);
    turn('a', 'a', ...Array.from({ length: 10_000 }, (_, index) => `single ${index}`));
    assert.deepEqual(events, []);
  });

  it('tells again when the number has doubled, or has grown a minute later', () => {
    const { events, turn, wait } = watching(1);
    const told = (): unknown[] => events.map((event) => 'sessions' in event && event.sessions);
    for (const session of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) turn(session, session);
    assert.deepEqual(told(), [2, 4, 8]);
    wait(1);
    turn('a');
    assert.deepEqual(told(), [2, 4, 8, 9]);
    wait(1);
    turn('a');
    assert.deepEqual(told(), [2, 4, 8, 9]);
  });

  it('forgets conversations that rest, and tells anew when they come back', () => {
    const { events, turn, wait } = watching(1);
    turn('a', 'a', 'b', 'b');
    wait(4);
    turn('a');
    wait(4);
    turn('a');
    assert.equal(events.length, 1);
    turn('b', 'b');
    assert.equal(events.length, 2);
    wait(6);
    turn('c', 'c');
    assert.equal(events.length, 2, 'one after the other is no trouble');
  });

  it('says nothing of an engine without slots, nor of requests without a session', () => {
    const { events, turn } = watching(0);
    turn('a', 'a', 'b', 'b');
    const watch = new SlotWatch({
      now: () => 0,
      flag: () => undefined,
      onEvent: (event) => events.push(event),
    });
    watch.note(buildExchange({ route: 'completion', body: { prompt: 'Hi' } }));
    assert.deepEqual(events, []);
  });
});
