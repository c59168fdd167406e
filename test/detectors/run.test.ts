// Who is asked, who is skipped and why, and what the operator's settings change.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as everyoneElse } from 'node:timers/promises';
import { countMismatch } from '../../src/detectors/count-mismatch.ts';
import type { Detector } from '../../src/detectors/detector.ts';
import { detectors } from '../../src/detectors/index.ts';
import {
  runDetectors,
  runDetectorsInTurns,
  type Detection,
  type DetectorRun,
} from '../../src/detectors/run.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import type { UnknownReason } from '../../src/exchange/token-read.ts';
import { buildExchange, buildReply, factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const doubled: ExchangeShape = {
  route: 'completion',
  body: { prompt: '<bos>hi', max_tokens: 8 },
  ids: [[2, 2, 2151]],
};
const run = (exchange: Exchange, more: Partial<DetectorRun> = {}): Detection =>
  runDetectors(exchange, { detectors, stage: 'request', ...more });
const kinds = ({ findings }: Detection): string[] => findings.map(({ kind }) => kind);

/** An exchange of which nothing is known but why not. */
function unknownExchange(reason: UnknownReason): Exchange {
  const exchange = buildExchange(doubled);
  exchange.heads = [];
  exchange.prompts = [];
  delete exchange.facts;
  exchange.inspection = { result: 'unknown', reason };
  return exchange;
}

describe('runDetectors', () => {
  it('says how the engine is given another template where that is to blame, and only there', () => {
    const adviceOf = (shape: ExchangeShape): string[] =>
      run(buildExchange(shape)).findings.map(({ advice }) => advice);
    const facts = { ...factsOf.qwen3, templateArgument: '--template FILE' };
    const sent = 'Which river flows through Dresden?';
    const lost: ExchangeShape = {
      route: 'chat',
      body: { messages: [{ role: 'user', content: sent }] },
      text: '<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n',
      facts,
    };
    const [advice = '', ...others] = adviceOf(lost);
    assert.match(advice, /such messages\. The engine is started with another template by --template FILE\.$/);
    assert.deepEqual(others, []);
    const [untold = ''] = adviceOf({ ...lost, facts: factsOf.qwen3 });
    assert.match(untold, /such messages\.$/);
    const [ofClient = ''] = adviceOf({ ...doubled, facts: { ...factsOf.gemma3, templateArgument: 'x' } });
    assert.doesNotMatch(ofClient, /started with/);
  });

  it('asks the detectors of one stage, and no others', () => {
    const exchange = buildExchange({
      ...doubled,
      reply: { choices: [{ finishReason: 'length', promptTokens: 9 }] },
    });
    exchange.session = {
      session: 's',
      keySource: 'ancestor',
      sequence: 1,
      commonMessages: 0,
      commonTokens: 0,
      branches: false,
    };
    assert.deepEqual(kinds(run(exchange)), ['double-bos', 'raw-prompt']);
    assert.deepEqual(kinds(run(exchange, { stage: 'reply' })), ['count-mismatch', 'output-truncated']);
    assert.deepEqual(run(exchange).skipped, []);
    assert.deepEqual(exchange.findings, [], 'the exchange is left alone');
  });

  it('asks only the kinds that are asked for', () => {
    const only = new Set(['double-bos'] as const);
    const { findings, skipped } = run(unknownExchange('oracle-timeout'), { only });
    assert.deepEqual([findings, skipped], [[], [{ kind: 'double-bos', reason: 'oracle-timeout' }]]);
  });

  it('skips with the reason where nothing is known', () => {
    for (const reason of ['engine-cannot', 'body-too-large', 'exempt'] as const) {
      assert.deepEqual(
        run(unknownExchange(reason)).skipped,
        detectors.filter(({ stage }) => stage === 'request').map(({ kind }) => ({ kind, reason })),
      );
    }
    const late = unknownExchange('exempt');
    late.inspection = { result: 'late' };
    assert.equal(run(late).skipped[0]?.reason, 'budget-exhausted');
    late.inspection = { result: 'ok' };
    assert.equal(run(late).skipped[0]?.reason, 'facts-missing');
  });

  it('asks about the prompts of a batch that are known, and says that others are not', () => {
    const exchange = buildExchange({
      ...doubled,
      body: { prompt: ['<bos>hi', 'x'] },
      ids: [[2, 2, 2151], 'oracle-error'],
    });
    const detection = run(exchange, { only: new Set(['double-bos']) });
    assert.deepEqual(kinds(detection), ['double-bos']);
    assert.deepEqual(detection.skipped, [{ kind: 'double-bos', reason: 'oracle-error' }]);
  });

  it('does not take a batch for something unknown: it has no session', () => {
    const exchange = buildExchange({ ...doubled, body: { prompt: ['a', 'b'] }, ids: [[2], [2]] });
    assert.deepEqual(run(exchange, { only: new Set(['prefix-break']) }), { findings: [], skipped: [] });
  });

  it('skips reply detectors where the reply was not readable', () => {
    const exchange = buildExchange(doubled);
    const reasons = {
      compressed: 'compressed-body',
      'too-large': 'body-too-large',
      'unexpected-shape': 'unreadable-body',
    } as const;
    for (const [unreadReason, reason] of Object.entries(reasons)) {
      exchange.reply = { ...buildReply({ choices: [] }), unreadReason: unreadReason as keyof typeof reasons };
      const { skipped } = run(exchange, { stage: 'reply' });
      const asked = detectors.filter(({ stage }) => stage === 'reply');
      assert.deepEqual(
        skipped,
        asked.map(({ kind }) => ({ kind, reason })),
      );
    }
  });

  it("shows the engine's error to those that ask for an answer of any kind, and to no others", () => {
    const exchange = buildExchange(doubled);
    exchange.reply = { ...buildReply({ status: 400 }), unreadReason: 'engine-error' };
    const asked: string[] = [];
    const judge = (need: Detector['need']): Detector => ({
      ...countMismatch,
      need,
      detect: () => {
        asked.push(need);
        return [];
      },
    });
    const { skipped } = run(exchange, { stage: 'reply', detectors: [judge('reply'), judge('answer')] });
    assert.deepEqual([asked, skipped], [['answer'], []]);
  });

  it('asks for rendered text only where there is some', () => {
    const asked: string[] = [];
    const reader = (need: Detector['need']): Detector => ({
      kind: 'double-bos',
      summary: '',
      stage: 'request',
      need,
      severity: 'error',
      repairs: false,
      detect: () => {
        asked.push(need);
        return [];
      },
    });
    const readers = [reader('rendered'), reader('ids')];
    run(buildExchange({ ...doubled, text: '<bos>hi' }), { detectors: readers });
    assert.deepEqual(asked.splice(0), ['rendered', 'ids']);
    const { skipped } = run(buildExchange(doubled), { detectors: readers });
    assert.deepEqual([asked, skipped], [['ids'], []], 'ids of the client have no text: nothing is unknown');
  });

  it('goes on after a detector that throws', () => {
    const failure = new Error('broken');
    const broken: Detector = {
      kind: 'double-bos',
      summary: '',
      stage: 'request',
      need: 'head',
      severity: 'error',
      repairs: false,
      detect: () => {
        throw failure;
      },
    };
    const failures: unknown[] = [];
    const detection = run(buildExchange(doubled), {
      detectors: [broken, ...detectors.filter(({ kind }) => kind !== 'double-bos')],
      onFailure: (kind, error) => failures.push([kind, error]),
    });
    assert.deepEqual(detection.skipped[0], { kind: 'double-bos', reason: 'inspection-failed' });
    assert.deepEqual(kinds(detection), ['raw-prompt']);
    assert.deepEqual(failures, [['double-bos', failure]]);
  });

  it("applies the operator's severities and leaves out what is switched off", () => {
    const exchange = buildExchange(doubled);
    const settings = { 'double-bos': { severity: 'warning' }, 'raw-prompt': { off: true } } as const;
    const { findings, skipped } = run(exchange, { settings });
    assert.deepEqual(
      findings.map(({ kind, severity }) => [kind, severity]),
      [['double-bos', 'warning']],
    );
    assert.equal(
      skipped.some(({ kind }) => kind === 'raw-prompt'),
      false,
    );
  });

  it('leaves info what is info by design', () => {
    const exchange = buildExchange({ ...doubled, reply: { choices: [{ finishReason: 'length' }] } });
    const settings = { 'output-truncated': { severity: 'error' } } as const;
    assert.equal(run(exchange, { stage: 'reply', settings }).findings[0]?.severity, 'info');
  });
});

describe('runDetectorsInTurns', () => {
  const asked = (kind: Detector['kind'], detect: Detector['detect']): Detector => ({
    kind,
    summary: '',
    stage: 'request',
    need: 'facts',
    severity: 'info',
    repairs: false,
    detect,
  });

  it('finds what is found in one turn, in the same order', async () => {
    const exchange = buildExchange(doubled);
    const setting = { detectors, stage: 'request' } as const;
    const inTurns = await runDetectorsInTurns(exchange, setting, () => Promise.resolve());
    assert.deepEqual(kinds(inTurns), ['double-bos', 'raw-prompt']);
    assert.deepEqual([inTurns.findings, inTurns.skipped], [run(exchange).findings, run(exchange).skipped]);
  });

  it('gives others their turn behind each detector that was asked, where a pause is made', async () => {
    const seen: string[] = [];
    const first = asked('double-bos', () => {
      setImmediate(() => seen.push('another task'));
      seen.push('first');
      return [];
    });
    const second = asked('raw-prompt', () => {
      seen.push('second');
      return [];
    });
    const ofReplies: Detector = { ...asked('count-mismatch', () => []), stage: 'reply' };
    let pauses = 0;
    const pause = (): Promise<void> => {
      pauses += 1;
      return everyoneElse();
    };
    const all = [first, ofReplies, second];
    await runDetectorsInTurns(buildExchange(doubled), { detectors: all, stage: 'request' }, pause);
    assert.deepEqual([seen, pauses], [['first', 'another task', 'second'], 2]);
    seen.length = 0;
    const none = (): undefined => undefined;
    await runDetectorsInTurns(buildExchange(doubled), { detectors: all, stage: 'request' }, none);
    assert.deepEqual(seen.slice(0, 2), ['first', 'second']);
  });

  it('judges the exchange as it was, whatever becomes known of it in between', async () => {
    const exchange = unknownExchange('oracle-timeout');
    const first = asked('double-bos', () => []);
    const second = { ...asked('raw-prompt', () => []), need: 'head' as const };
    const whole = buildExchange(doubled);
    const pause = (): Promise<void> => {
      Object.assign(exchange, { heads: whole.heads, prompts: whole.prompts, facts: whole.facts });
      return Promise.resolve();
    };
    const facts = whole.facts;
    if (facts !== undefined) exchange.facts = facts;
    const all = { detectors: [first, second], stage: 'request' } as const;
    const { skipped } = await runDetectorsInTurns(exchange, all, pause);
    assert.deepEqual(skipped, [{ kind: 'raw-prompt', reason: 'oracle-timeout' }]);
  });
});
