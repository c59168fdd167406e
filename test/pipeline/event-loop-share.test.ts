// However much there is to judge, everything else in the process has its turn in between, and what is found stays the same.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { EventLoopShare } from '../../src/pipeline/event-loop-share.ts';
import { openPipeline } from './scripted-engine.ts';

const doubled = { heads: () => Promise.resolve([{ known: true as const, ids: [2, 2, 105] }]) };
const prompt = { prompt: '<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n' };

/** A clock by which each step takes so long. */
function clock(stepMs: number): () => number {
  let now = 0;
  return () => (now += stepMs);
}

async function turnsUntil(promise: Promise<unknown>): Promise<number> {
  const state = { isDone: false };
  void promise.then(() => {
    state.isDone = true;
  });
  let turns = 0;
  for (; !state.isDone; turns += 1) await turn();
  return turns;
}

describe('a share of the event loop', () => {
  it('ends once it was used up, and begins anew behind the turn of all others', async () => {
    let now = 0;
    const share = new EventLoopShare(() => now);
    now = 4;
    assert.equal(share.pause(), undefined);
    now = 6;
    let hadTurn = false;
    setImmediate(() => {
      hadTurn = true;
      now = 106;
    });
    await share.pause();
    assert.deepEqual([hadTurn, share.pausedSeconds], [true, 0.1]);
    assert.equal(share.pause(), undefined);
  });

  it('is what detectors have: others go between them where they take long', async () => {
    const quick = openPipeline({ ...doubled, now: clock(0) });
    const slow = openPipeline({ ...doubled, now: clock(100) });
    const ofQuick = quick.inspect(prompt).verdict;
    const turnsOfQuick = await turnsUntil(ofQuick);
    const ofSlow = slow.inspect(prompt).verdict;
    const turnsOfSlow = await turnsUntil(ofSlow);
    assert.ok(turnsOfSlow >= turnsOfQuick + 5, `${turnsOfSlow} turns, and ${turnsOfQuick} of quick ones`);
    assert.deepEqual((await ofSlow).action, (await ofQuick).action);
    const told = ({ records }: typeof slow): unknown => records.map(({ kind, cause }) => [kind, cause]);
    assert.deepEqual(told(slow), told(quick));
    assert.equal(slow.records[0]?.kind, 'double-bos');
  });

  it('lets a client leave in between: what was found is counted first, then how it ended', async () => {
    const { inspect, series, failures } = openPipeline({ ...doubled, now: clock(100) });
    const inspection = inspect(prompt);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    inspection.reply.end('client-aborted', undefined);
    const requests = 'requests_total{model_name="gemma-3-1b-it",route="completion",action="pass"}';
    const replies = 'replies_total{model_name="gemma-3-1b-it",route="completion",outcome="client-aborted"}';
    while ((await series(replies)) === 0) await turn();
    assert.deepEqual([await series(requests), await series(replies), failures], [1, 1, []]);
  });
});
