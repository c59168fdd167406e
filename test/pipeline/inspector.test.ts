import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { HeadRead } from '../../src/exchange/token-read.ts';
import { deadline } from '../../src/pipeline/deadline.ts';
import { known, never, openPipeline, reply } from './scripted-engine.ts';

const doubled = { heads: () => Promise.resolve([{ known: true as const, ids: [2, 2, 105] }]) };
const prompt = { prompt: '<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n' };
const strict = { MODE: 'strict', INSPECTION_BLOCKING_MS: '40' };

/** Longer than the blocking deadline by far, and short enough to see that nothing waits for ever. */
async function inTime<Value>(verdict: Promise<Value>): Promise<Value> {
  const value = await deadline(verdict, 5000);
  assert.ok(value !== undefined, 'there is no verdict');
  return value;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

describe('a verdict', () => {
  it('waits for the whole inspection within the budget', async () => {
    const { inspect } = openPipeline({});
    const verdict = await inspect(prompt).verdict;
    assert.equal(verdict.action, 'pass');
    assert.ok(
      verdict.responseHeaders.some(([name, value]) => name === 'tokenweir-inspection' && value === 'ok'),
    );
  });

  it('does not wait longer than the budget, and what is found later is counted once', async () => {
    const late = deferred();
    const { inspect, records, series } = openPipeline(
      { ...doubled, prompts: () => late.promise },
      { INSPECTION_BUDGET_MS: '5' },
    );
    const inspection = inspect(prompt);
    const verdict = await inspection.verdict;
    assert.ok(
      verdict.responseHeaders.some(([name, value]) => name === 'tokenweir-inspection' && value === 'late'),
    );
    assert.equal(
      await series('requests_total{model_name="gemma-3-1b-it",route="completion",action="pass"}'),
      1,
    );
    assert.equal(records.length, 0);
    late.resolve([known(2, 2, 105)]);
    await until(() => records.length > 0);
    assert.deepEqual(
      records.map(({ kind }) => kind),
      ['double-bos'],
    );
    reply(inspection, 3);
    await turn();
    assert.equal(
      await series('requests_total{model_name="gemma-3-1b-it",route="completion",action="pass"}'),
      1,
    );
    assert.equal(
      await series(
        'findings_total{model_name="gemma-3-1b-it",route="completion",kind="double-bos",severity="error"}',
      ),
      1,
    );
  });

  it('in strict mode waits for the head alone, however long the rest takes', async () => {
    const { inspect } = openPipeline(
      { ...doubled, prompts: never },
      { ...strict, INSPECTION_BUDGET_MS: '1' },
    );
    const verdict = await inspect(prompt).verdict;
    assert.equal(verdict.action, 'reject');
    assert.equal(verdict.status, 400);
  });

  it('in strict mode alongside holds a request for the head alone', async () => {
    const { inspect } = openPipeline(
      { ...doubled, prompts: never },
      { ...strict, INSPECTION_TIMING: 'alongside' },
    );
    assert.equal((await inspect(prompt).verdict).action, 'reject');
  });

  it('a stalled engine lets the request pass after the blocking deadline', async () => {
    const { inspect, series } = openPipeline({ facts: never }, { ...strict, INSPECTION_BUDGET_MS: '1' });
    assert.equal((await inspect(prompt).verdict).action, 'pass');
    assert.equal(await series('inspection_unknown_total{reason="budget-exhausted"}'), 1);
  });

  it('with onUnknown reject it answers 503 instead', async () => {
    const { inspect } = openPipeline(
      { facts: never },
      { ...strict, INSPECTION_BUDGET_MS: '1', INSPECTION_ON_UNKNOWN: 'reject' },
    );
    const verdict = await inspect(prompt).verdict;
    assert.ok(verdict.action === 'reject' && verdict.status === 503);
    assert.match(verdict.body, /"code":"inspection_unknown"/);
  });

  it('repairs what it has proven, by the head if the rest is not there in time', async () => {
    let calls = 0;
    const heads = () =>
      Promise.resolve([{ known: true as const, ids: (calls += 1) === 1 ? [2, 2, 105] : [2, 105] }]);
    const { inspect } = openPipeline(
      { heads, prompts: never },
      { ...strict, INSPECTION_BUDGET_MS: '1', DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' },
    );
    const verdict = await inspect(prompt).verdict;
    assert.ok(verdict.action === 'rewrite');
    assert.equal(verdict.body.toString(), JSON.stringify({ prompt: prompt.prompt.slice('<bos>'.length) }));
  });

  it('sends a request as it came if the repair is not proven', async () => {
    const { inspect } = openPipeline(doubled, { ...strict, DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' });
    assert.equal((await inspect(prompt).verdict).action, 'pass');
  });

  for (const onUnknown of ['forward', 'reject'] as const) {
    it(`does not wait for a repair beyond the blocking deadline, onUnknown ${onUnknown}`, async () => {
      let calls = 0;
      const heads = () => ((calls += 1) === 1 ? doubled.heads() : never<readonly HeadRead[]>());
      const { inspect, series } = openPipeline(
        { heads, prompts: () => Promise.resolve([known(2, 2, 105)]) },
        { ...strict, INSPECTION_ON_UNKNOWN: onUnknown, DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' },
      );
      const verdict = await inTime(inspect(prompt).verdict);
      assert.equal(verdict.action, onUnknown === 'reject' ? 'reject' : 'pass');
      if (verdict.action === 'reject') assert.equal(verdict.status, 503);
      const found = ['tokenweir-findings', 'double-bos;literal'];
      assert.ok(verdict.responseHeaders.some((header) => isDeepStrictEqual(header, found)));
      assert.equal(await series('inspection_unknown_total{reason="budget-exhausted"}'), 1);
    });
  }

  it('forwards a repair that its head proves, though the ids of all of it do not come', async () => {
    let [heads, prompts] = [0, 0];
    const pipeline = openPipeline(
      {
        heads: () =>
          (heads += 1) === 1 ? doubled.heads() : Promise.resolve([{ known: true, ids: [2, 105] }]),
        prompts: () => ((prompts += 1) === 1 ? Promise.resolve([known(2, 2, 105)]) : never()),
      },
      { ...strict, DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' },
    );
    const verdict = await inTime(pipeline.inspect(prompt).verdict);
    assert.equal(verdict.action, 'rewrite');
    const late = ['tokenweir-inspection', 'late'];
    assert.ok(verdict.responseHeaders.some((header) => isDeepStrictEqual(header, late)));
    const counted = 'prompt_tokens_total{model_name="gemma-3-1b-it",route="completion"}';
    assert.equal(await pipeline.series(counted), 0, "the client's ids are not what the engine gets");
  });

  it('blocks nothing while the ids are unverified', async () => {
    const { inspect } = openPipeline({ ...doubled, idsVerified: false }, strict);
    assert.equal((await inspect(prompt).verdict).action, 'pass');
  });
});

describe('inspection that breaks', () => {
  for (const stage of ['facts', 'heads', 'prompts'] as const) {
    it(`forwards the request when ${stage} throws, and counts it`, async () => {
      const { inspect, failures, series } = openPipeline({
        [stage]: () => Promise.reject(new Error('broken')),
      });
      const inspection = inspect(prompt);
      assert.equal((await inspection.verdict).action, 'pass');
      assert.equal(failures.length, 1);
      assert.equal(await series('inspection_unknown_total{reason="inspection-failed"}'), 1);
      reply(inspection, 3);
      await turn();
    });
  }

  it('survives replies of any shape', async () => {
    for (const chunk of ['', '\u0000', 'null', '[', 'data: {', '{"choices":5}']) {
      const { inspect, failures } = openPipeline({});
      const inspection = inspect(prompt);
      await inspection.verdict;
      inspection.reply.headers(200, 'application/json', '');
      inspection.reply.chunk(Buffer.from(chunk));
      inspection.reply.end('upstream-failed', 200);
      await turn();
      assert.deepEqual(failures, []);
    }
  });
});

describe('a turn', () => {
  it('is remembered once generation data has arrived, also if the client leaves then', async () => {
    const { inspect, store } = openPipeline({});
    const inspection = inspect(prompt);
    await inspection.verdict;
    inspection.reply.headers(200, 'text/event-stream', '');
    assert.equal(store.count, 0);
    inspection.reply.chunk(Buffer.from('data: {"choices":[{"index":0,"text":"x"}]}\n\n'));
    await until(() => store.count === 1);
    inspection.reply.end('client-aborted', 200);
  });

  it('is not remembered if the engine refused the request', async () => {
    const { inspect, store } = openPipeline({});
    const inspection = inspect(prompt);
    await inspection.verdict;
    inspection.reply.headers(400, 'application/json', '');
    inspection.reply.chunk(Buffer.from('{"error":{"code":400,"message":"no"}}'));
    inspection.reply.end('completed', 400);
    await turn();
    assert.equal(store.count, 0);
  });

  it('whose ids come late is remembered when they come', async () => {
    const late = deferred();
    const { inspect, store } = openPipeline({ prompts: () => late.promise }, { INSPECTION_BUDGET_MS: '1' });
    const inspection = inspect(prompt);
    await inspection.verdict;
    reply(inspection, 3);
    await turn();
    assert.equal(store.count, 0);
    late.resolve([known(2, 105, 2364)]);
    await until(() => store.count === 1);
  });

  it('tells the engine of a count that differs', async () => {
    const { inspect, counts, records } = openPipeline({});
    const inspection = inspect(prompt);
    await inspection.verdict;
    reply(inspection, 4);
    await until(() => counts.length === 1);
    assert.deepEqual(counts, [['completion', false]]);
    assert.deepEqual(records.map(({ kind }) => kind).toSorted(), ['count-mismatch']);
  });
});

function deferred() {
  let resolve: (prompts: readonly ReturnType<typeof known>[]) => void = () => undefined;
  const promise = new Promise<readonly ReturnType<typeof known>[]>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
