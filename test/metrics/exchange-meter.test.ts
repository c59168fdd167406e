// What an exchange moves, at which moment, and that it moves nothing twice.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createMetrics } from '../../src/metrics/meter.ts';
import { unknown } from '../../src/exchange/token-read.ts';

import {
  doubleBos,
  exchangeWith,
  mendedBreak,
  prefixBreak,
  replyWith,
  tokens,
} from './exchange-under-test.ts';
import { moved, scraped } from './scraped.ts';

describe('before forwarding', () => {
  it('counts the request, its inspection and its prompt tokens', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.beforeForwarding(exchangeWith({ prompts: [tokens(25), tokens(7)], reusableTokens: 11 }));
    const samples = await scraped(metrics);
    assert.deepEqual(moved(samples, 'requests_total'), {
      'requests_total{model_name="qwen3",route="chat",action="pass"}': 1,
    });
    assert.deepEqual(moved(samples, 'inspections_total'), {
      'inspections_total{model_name="qwen3",route="chat",result="ok"}': 1,
    });
    assert.deepEqual(moved(samples, 'prompt_tokens_total'), {
      'prompt_tokens_total{model_name="qwen3",route="chat"}': 32,
    });
    assert.deepEqual(moved(samples, 'prompt_tokens_reusable_total'), {
      'prompt_tokens_reusable_total{model_name="qwen3"}': 11,
    });
    assert.deepEqual(moved(samples, 'inspection_unknown_total'), {});
    assert.deepEqual(moved(samples, 'replies_total'), {});
  });

  it('counts findings, and breaks with cause, culprit, loss and position', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.beforeForwarding(exchangeWith({ findings: [doubleBos, prefixBreak], action: 'reject' }));
    const samples = await scraped(metrics);
    assert.deepEqual(moved(samples, 'findings_total'), {
      'findings_total{model_name="qwen3",route="chat",kind="double-bos",severity="error"}': 1,
      'findings_total{model_name="qwen3",route="chat",kind="prefix-break",severity="warning"}': 1,
    });
    const series = '{model_name="qwen3",cause="tools-reordered",culprit="client"}';
    assert.deepEqual(moved(samples, 'prefix_breaks_total'), { [`prefix_breaks_total${series}`]: 1 });
    assert.deepEqual(moved(samples, 'prefix_lost_tokens_total'), {
      [`prefix_lost_tokens_total${series}`]: 178,
    });
    assert.equal(samples.get('tokenweir_prefix_break_position_tokens_sum'), 56);
    assert.equal(samples.get('tokenweir_prefix_break_position_tokens_bucket{le="16"}'), 0);
    assert.equal(samples.get('tokenweir_prefix_break_position_tokens_bucket{le="64"}'), 1);
  });

  it('counts what a repair saved, and no loss for it; but only where the request went on repaired', async () => {
    const counted = async (action: 'rewrite' | 'pass') => {
      const metrics = createMetrics({ modelLabels: 5 });
      const reply = replyWith({ prefillTokensPerSecond: 89 });
      const exchange = exchangeWith({ findings: [mendedBreak], action, reply });
      metrics.meter.beforeForwarding(exchange);
      metrics.meter.settled(exchange, []);
      const samples = await scraped(metrics);
      const names = ['findings_total', 'prompt_tokens_saved_total', 'prefix_breaks_total'];
      const all = [...names, 'prefix_lost_tokens_total', 'prefill_wasted_seconds_total'];
      return all.map((name) => Object.values(moved(samples, name)));
    };
    assert.deepEqual(await counted('rewrite'), [[1], [170], [], [], []]);
    assert.deepEqual(await counted('pass'), [[1], [], [1], [178], [2]]);
  });

  it('puts a break without a known cause under unknown, never under a label of its own', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.beforeForwarding(exchangeWith({ findings: [{ ...prefixBreak, cause: 'moon-phase' }] }));
    assert.deepEqual(moved(await scraped(metrics), 'prefix_breaks_total'), {
      'prefix_breaks_total{model_name="qwen3",cause="unknown",culprit="client"}': 1,
    });
  });

  it('counts each reason for unknown once per exchange, of the inspection and of single detectors', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.beforeForwarding(
      exchangeWith({
        prompts: [unknown('oracle-timeout')],
        inspection: { result: 'unknown', reason: 'oracle-timeout' },
        skipped: [
          { kind: 'prefix-break', reason: 'oracle-timeout' },
          { kind: 'raw-prompt', reason: 'media' },
        ],
      }),
    );
    const samples = await scraped(metrics);
    assert.deepEqual(moved(samples, 'inspection_unknown_total'), {
      'inspection_unknown_total{reason="oracle-timeout"}': 1,
      'inspection_unknown_total{reason="media"}': 1,
    });
    assert.deepEqual(moved(samples, 'prompt_tokens_total'), {});
  });

  it('does not pass part of a batch off as all of it', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.beforeForwarding(exchangeWith({ prompts: [tokens(9), unknown('media')] }));
    assert.deepEqual(moved(await scraped(metrics), 'prompt_tokens_total'), {});
  });
});

describe('a late inspection', () => {
  it('adds what it found and counts no request, finding or prompt again', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    const exchange = exchangeWith({ prompts: [], findings: [doubleBos], inspection: { result: 'late' } });
    metrics.meter.beforeForwarding(exchange);
    exchange.prompts = [tokens(25)];
    exchange.reusableTokens = 4;
    exchange.findings.push(prefixBreak);
    metrics.meter.lateInspection(exchange);
    metrics.meter.settled(exchange, []);
    const samples = await scraped(metrics);
    assert.deepEqual(Object.values(moved(samples, 'requests_total')), [1]);
    assert.deepEqual(moved(samples, 'inspections_total'), {
      'inspections_total{model_name="qwen3",route="chat",result="late"}': 1,
    });
    assert.deepEqual(Object.values(moved(samples, 'findings_total')), [1, 1]);
    assert.deepEqual(Object.values(moved(samples, 'prefix_breaks_total')), [1]);
    assert.deepEqual(Object.values(moved(samples, 'prompt_tokens_total')), [25]);
    assert.deepEqual(Object.values(moved(samples, 'prompt_tokens_reusable_total')), [4]);
  });
});

describe('at settle', () => {
  it('counts the outcome, the count check and findings about the reply', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    const exchange = exchangeWith();
    metrics.meter.beforeForwarding(exchange);
    exchange.outcome = 'completed';
    exchange.findings.push({ ...doubleBos, kind: 'output-truncated', severity: 'info' });
    metrics.meter.settled(exchange, ['match']);
    const samples = await scraped(metrics);
    assert.deepEqual(moved(samples, 'replies_total'), {
      'replies_total{model_name="qwen3",route="chat",outcome="completed"}': 1,
    });
    assert.deepEqual(moved(samples, 'count_checks_total'), {
      'count_checks_total{model_name="qwen3",result="match"}': 1,
    });
    assert.deepEqual(Object.keys(moved(samples, 'findings_total')), [
      'findings_total{model_name="qwen3",route="chat",kind="output-truncated",severity="info"}',
    ]);
  });

  it('turns lost tokens into seconds by the rate that the reply reports', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    const reply = replyWith({ prefillTokensPerSecond: 89 });
    metrics.meter.settled(exchangeWith({ findings: [prefixBreak], reply }), []);
    assert.deepEqual(moved(await scraped(metrics), 'prefill_wasted_seconds_total'), {
      'prefill_wasted_seconds_total{model_name="qwen3",cause="tools-reordered"}': 2,
    });
  });

  for (const [name, rate] of [
    ['no rate', undefined],
    ['a rate of 0', 0],
    ['a rate that is no number', Number.NaN],
  ] as const) {
    it(`adds no wasted seconds for a reply with ${name}`, async () => {
      const metrics = createMetrics({ modelLabels: 5 });
      const reply = replyWith(rate === undefined ? {} : { prefillTokensPerSecond: rate });
      metrics.meter.settled(exchangeWith({ findings: [prefixBreak], reply }), []);
      assert.deepEqual(moved(await scraped(metrics), 'prefill_wasted_seconds_total'), {});
    });
  }

  it('counts cached tokens once per prompt, whatever n is', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    const reply = replyWith(
      { cachedTokens: 10 },
      { cachedTokens: 10 },
      { cachedTokens: 3 },
      { cachedTokens: 3 },
    );
    const request = {
      kind: 'completion',
      json: {},
      body: Buffer.alloc(0),
      stream: false,
      choices: 2,
      prompts: [],
    } as const;
    metrics.meter.settled(exchangeWith({ request, reply }), []);
    assert.deepEqual(Object.values(moved(await scraped(metrics), 'prompt_tokens_cached_total')), [13]);
  });

  it('makes no cached series while no reply has reported any, and one at 0 once a reply reports 0', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.settled(exchangeWith({ reply: replyWith({}) }), []);
    const series = 'tokenweir_prompt_tokens_cached_total{model_name="qwen3"}';
    assert.equal((await scraped(metrics)).has(series), false);
    metrics.meter.settled(exchangeWith({ reply: replyWith({ cachedTokens: 0 }) }), []);
    assert.equal((await scraped(metrics)).get(series), 0);
  });
});
