// The metric contract: the pinned list, the catalogue, docs/metrics.md and the meter say the same, in both directions.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { generate } from '../../scripts/generate-metrics-docs.ts';
import type { CountCheck } from '../../src/detectors/count-check.ts';
import { catalogue, metricPrefix, type MetricName } from '../../src/metrics/catalogue.ts';
import type { MetricDefinition } from '../../src/metrics/metric-definition.ts';
import type { SessionMatch } from '../../src/exchange/session-match.ts';
import type { EvictionReason } from '../../src/sessions/store.ts';
import * as sets from '../../src/metrics/label-sets.ts';
import { createMetrics, type Metrics } from '../../src/metrics/meter.ts';
import {
  doubleBos,
  exchangeWith,
  factsWith,
  mendedBreak,
  prefixBreak,
  replyWith,
} from '../metrics/exchange-under-test.ts';
import { scraped } from '../metrics/scraped.ts';

/** The public contract. Changing a line here is a breaking change. */
const contract = `
  requests_total{model_name,route,action}
  findings_total{model_name,route,kind,severity}
  prefix_breaks_total{model_name,cause,culprit}
  prefix_lost_tokens_total{model_name,cause,culprit}
  prefix_break_position_tokens{}
  prompt_tokens_total{model_name,route}
  prompt_tokens_reusable_total{model_name}
  prompt_tokens_saved_total{model_name}
  inspections_total{model_name,route,result}
  inspection_unknown_total{reason}
  replies_total{model_name,route,outcome}
  prompt_tokens_cached_total{model_name}
  prefill_wasted_seconds_total{model_name,cause}
  count_checks_total{model_name,result}
  ids_verified{model_name}
  inspection_duration_seconds{stage}
  oracle_requests_total{oracle,result}
  tokenized_tokens_total{source}
  time_to_first_byte_seconds{route}
  held_bytes{}
  in_flight_requests{}
  event_loop_lag_seconds{}
  sessions{}
  session_bytes{}
  session_lookups_total{source}
  session_evictions_total{reason}
  rejections_suspended{}
  upstream_up{}
  model_info{model_name,engine,build,template_hash,adds_bos}
  facts_changes_total{model_name,what}
  engine_events_total{event}
  build_info{version,node_version}
  config_last_reload_successful{}
  config_last_reload_success_timestamp_seconds{}
`
  .trim()
  .split('\n')
  .map((line) => line.trim());

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

const definitions = Object.entries(catalogue) as [MetricName, MetricDefinition][];

function metricsWithEverythingMoved(): Metrics {
  const metrics = createMetrics({ modelLabels: 5, processMetrics: true });
  const { meter } = metrics;
  const exchange = exchangeWith({
    findings: [doubleBos, prefixBreak],
    reusableTokens: 5,
    inspection: { result: 'unknown', reason: 'media' },
  });
  meter.beforeForwarding(exchange);
  meter.beforeForwarding(exchangeWith({ findings: [mendedBreak], action: 'rewrite' }));
  exchange.outcome = 'completed';
  exchange.reply = replyWith({ cachedTokens: 5, prefillTokensPerSecond: 100 });
  meter.settled(exchange, ['match']);
  meter.oracleRequest('tokenize', 'ok');
  meter.tokenizedTokens('engine', 25);
  meter.inspectionDuration('ask', 0.01, exchange);
  meter.timeToFirstByte('chat', 0.2, exchange);
  meter.heldBytes(10);
  meter.inFlight(1);
  meter.eventLoopLag(0.002);
  meter.sessions(1, 100);
  meter.sessionLookup('ancestor');
  meter.sessionEviction('age', 2);
  meter.rejectionsSuspended(true);
  meter.upstreamUp(true);
  meter.modelInfo(factsWith());
  meter.engineEvent('facts-changed');
  meter.factsChange('qwen3', 'template');
  meter.idsVerified('qwen3', true);
  meter.configReload(true, 1_700_000_000_000);
  meter.buildInfo('0.1.0', 'v20.20.2');
  return metrics;
}

describe('the metric contract', () => {
  it('is what the catalogue holds, names and labels', () => {
    const held = definitions.map(([name, { labels }]) => `${name}{${Object.keys(labels).join(',')}}`);
    assert.deepEqual(held.toSorted(), contract.toSorted());
  });

  it('keeps to the naming rules: counters end in _total, nothing else does', () => {
    for (const [name, { type, help }] of definitions) {
      assert.equal(name.endsWith('_total'), type === 'counter', name);
      assert.match(name, /^[a-z]+(_[a-z]+)*$/);
      assert.match(help, /\.$/, `${name}: the help is a sentence`);
    }
  });

  it('has the label values that engine events, count checks, lookups and evictions have', () => {
    // Checked by the compiler: each of these is an error as soon as a set and the type it repeats differ.
    const same: [
      Same<sets.CountCheckResult, CountCheck['result']>,
      Same<sets.LookupSource, SessionMatch['keySource'] | 'new'>,
      Same<sets.EvictionReason, EvictionReason>,
    ] = [true, true, true];
    assert.ok(same.every(Boolean));
  });
});

describe('docs/metrics.md', () => {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');

  it('is what the generator writes', async () => {
    assert.equal(page, await generate(page), 'run: npx tsx scripts/generate-metrics-docs.ts');
  });

  it('has a row for every metric and no row for another', () => {
    const rows = [...page.matchAll(/^\| `tokenweir_(\w+)` /gm)].map((match) => match[1]);
    assert.deepEqual(rows.toSorted(), Object.keys(catalogue).toSorted());
  });

  it('asks no question of a metric that does not exist', () => {
    const known = new Set(definitions.map(([name]) => metricPrefix + name));
    const named = [...page.matchAll(/tokenweir_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    const foreign = named.filter((name) => !known.has(name) && !/^tokenweir_(process|nodejs)_/.test(name));
    assert.deepEqual(foreign, []);
  });
});

describe('the meter', () => {
  it('moves every metric of the catalogue', async () => {
    const samples = [...(await scraped(metricsWithEverythingMoved()))];
    for (const [name, { type }] of definitions) {
      const series = metricPrefix + name + (type === 'histogram' ? '_count' : '');
      const above = samples.filter(
        ([key, value]) => value > 0 && (key === series || key.startsWith(`${series}{`)),
      );
      assert.ok(above.length > 0, `nothing moves ${name}`);
    }
  });

  it('serves nothing outside our prefix', async () => {
    for (const [series] of await scraped(metricsWithEverythingMoved())) {
      assert.ok(series.startsWith(metricPrefix), series);
    }
  });

  it('is valid in the eyes of promtool', async (t) => {
    const input = await metricsWithEverythingMoved().scrape('text');
    const promtool = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    if (promtool.error) {
      t.skip('promtool is not on the PATH (Debian package "prometheus"): /metrics was not linted with it');
      return;
    }
    assert.equal(promtool.status, 0, promtool.stdout + promtool.stderr);
  });
});
