// The recorder: series at 0, the cap on models, the machinery's gauges, exemplars, and a scrape that can't be broken.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { breakCauses, findingKinds } from '../../src/exchange/finding.ts';
import { createMetrics } from '../../src/metrics/meter.ts';

import { doubleBos, exchangeWith, factsWith } from './exchange-under-test.ts';
import { moved, scraped, type Samples } from './scraped.ts';

function series(samples: Samples, start: string): string[] {
  return [...samples.keys()].filter((key) => key.startsWith(`tokenweir_${start}`));
}

describe('series at 0', () => {
  it('exist for every kind, cause and reason before anything happened, without a known model', async () => {
    const samples = await scraped(createMetrics({ modelLabels: 5 }));
    for (const kind of findingKinds) {
      assert.ok(
        series(samples, 'findings_total').some((key) => key.includes(`kind="${kind}"`)),
        kind,
      );
    }
    for (const cause of breakCauses) {
      assert.ok(
        series(samples, 'prefix_breaks_total').some((key) => key.includes(`cause="${cause}"`)),
        cause,
      );
    }
    assert.equal(samples.get('tokenweir_inspection_unknown_total{reason="oracle-timeout"}'), 0);
    assert.equal(samples.get('tokenweir_oracle_requests_total{oracle="tokenize",result="ok"}'), 0);
    assert.equal(samples.get('tokenweir_inspection_duration_seconds_count{stage="whole"}'), 0);
    assert.deepEqual(
      [...samples].filter(([, value]) => value !== 0),
      [],
    );
  });

  it('exist for a model as soon as it is initialised, and repeating it resets nothing', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.initialiseModel('gemma');
    const key = 'tokenweir_requests_total{model_name="gemma",route="completion",action="reject"}';
    assert.equal((await scraped(metrics)).get(key), 0);
    const route = { kind: 'completion', inspected: true, dialect: 'native' } as const;
    metrics.meter.beforeForwarding(exchangeWith({ modelName: 'gemma', action: 'reject', route }));
    metrics.meter.initialiseModel('gemma');
    assert.equal((await scraped(metrics)).get(key), 1);
  });

  it('do not claim that nothing was cached or that ids are verified', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.initialiseModel('gemma');
    const samples = await scraped(metrics);
    assert.deepEqual(series(samples, 'prompt_tokens_cached_total'), []);
    assert.deepEqual(series(samples, 'ids_verified'), []);
  });
});

describe('the cap on model names', () => {
  it('puts models beyond it under other, and keeps those that have a series', async () => {
    const metrics = createMetrics({ modelLabels: 2 });
    for (const modelName of ['a', 'unknown', 'b', 'c', 'd', 'a']) {
      metrics.meter.beforeForwarding(exchangeWith({ modelName }));
    }
    const counts = moved(await scraped(metrics), 'requests_total');
    const ofModel = (name: string): string =>
      `requests_total{model_name="${name}",route="chat",action="pass"}`;
    assert.deepEqual(counts, {
      [ofModel('unknown')]: 1,
      [ofModel('a')]: 2,
      [ofModel('b')]: 1,
      [ofModel('other')]: 2,
    });
  });

  it('gives models under other no info series', async () => {
    const metrics = createMetrics({ modelLabels: 1 });
    metrics.meter.modelInfo(factsWith({ modelName: 'a' }));
    metrics.meter.modelInfo(factsWith({ modelName: 'b' }));
    assert.equal(series(await scraped(metrics), 'model_info').length, 1);
  });
});

describe('gauges', () => {
  it('replace the info of a model whose facts changed', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.modelInfo(factsWith());
    metrics.meter.modelInfo(factsWith({ templateHash: 't2', addedPrefix: { chat: [], completion: [2] } }));
    assert.deepEqual(moved(await scraped(metrics), 'model_info'), {
      'model_info{model_name="qwen3",engine="llama-server",build="b1",template_hash="t2",adds_bos="true"}': 1,
    });
  });

  it('keep the time of the last good load when a load fails', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.configReload(true, 1_700_000_000_000);
    metrics.meter.configReload(false, 1_800_000_000_000);
    const samples = await scraped(metrics);
    assert.equal(samples.get('tokenweir_config_last_reload_successful'), 0);
    assert.equal(samples.get('tokenweir_config_last_reload_success_timestamp_seconds'), 1_700_000_000);
  });
});

describe('exemplars', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';

  it('name the request and its trace, in OpenMetrics only', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.beforeForwarding(exchangeWith({ traceId, findings: [doubleBos] }));
    const exemplar = `# {request_id="req-1",trace_id="${traceId}"} 1 `;
    const open = await metrics.scrape('openmetrics');
    const line = open
      .split('\n')
      .find((each) => each.includes('kind="double-bos"') && each.includes('qwen3'));
    assert.ok(line?.includes(exemplar), line);
    assert.equal((await metrics.scrape('text')).includes('req-1'), false);
  });

  for (const [name, id] of [
    ['too long', 'x'.repeat(200)],
    ['with a line break', 'a\n# EOF'],
    ['with a quote', 'a"} 5'],
  ] as const) {
    it(`leave out a request id that is ${name}`, async () => {
      const metrics = createMetrics({ modelLabels: 5 });
      metrics.meter.beforeForwarding(exchangeWith({ id, traceId }));
      const open = await metrics.scrape('openmetrics');
      assert.equal(open.includes('request_id'), false);
      assert.ok(open.includes(`# {trace_id="${traceId}"}`));
    });
  }
});

describe('two scrapes', () => {
  it('do not disturb each other, whatever their forms', async () => {
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.beforeForwarding(exchangeWith());
    const before = await metrics.scrape('text');
    const [, after] = await Promise.all([metrics.scrape('openmetrics'), metrics.scrape('text')]);
    assert.equal(after, before);
  });
});
