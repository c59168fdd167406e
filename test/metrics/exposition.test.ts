// Which form a scraper gets, and that the plain form says the same as the OpenMetrics form.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { negotiateForm, plainText } from '../../src/metrics/exposition.ts';
import { createMetrics } from '../../src/metrics/meter.ts';

import { exchangeWith, factsWith } from './exchange-under-test.ts';
import { samplesOf } from './scraped.ts';

describe('negotiateForm', () => {
  const prometheus =
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
  for (const [accept, form] of [
    [undefined, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text'],
    ['application/openmetrics-text', 'openmetrics'],
    ['Application/OpenMetrics-Text; Version=1.0.0', 'openmetrics'],
    ['application/openmetrics-text;q=0', 'text'],
    ['application/openmetrics-text;q=0.2, text/plain;q=0.9', 'text'],
    ['text/plain, application/openmetrics-text', 'openmetrics'],
    ['application/openmetrics-text;q=nonsense', 'text'],
    [prometheus, 'openmetrics'],
  ] as const) {
    it(`answers ${form} to ${accept ?? 'no Accept header'}`, () => {
      assert.equal(negotiateForm(accept), form);
    });
  }
});

describe('plainText', () => {
  it('renames counter families, drops exemplars and the end mark', () => {
    const open = [
      '# HELP t_requests Requests.',
      '# TYPE t_requests counter',
      't_requests_total{a="b"} 3 # {request_id="r"} 1 1700000000.5',
      '# HELP t_bytes Bytes.',
      '# TYPE t_bytes gauge',
      't_bytes 7',
      '# EOF',
      '',
    ].join('\n');
    assert.equal(
      plainText(open),
      '# HELP t_requests_total Requests.\n# TYPE t_requests_total counter\nt_requests_total{a="b"} 3\n' +
        '# HELP t_bytes Bytes.\n# TYPE t_bytes gauge\nt_bytes 7\n',
    );
  });

  it('leaves a label value alone that looks like an exemplar', async () => {
    const modelName = 'x # {a="b"} 1 1 # {} 1 2';
    const metrics = createMetrics({ modelLabels: 5 });
    metrics.meter.modelInfo(factsWith({ modelName }));
    metrics.meter.beforeForwarding(exchangeWith({ modelName }));
    const escaped = modelName.replaceAll('"', '\\"');
    const samples = samplesOf(await metrics.scrape('text'));
    assert.equal(
      samples.get(`tokenweir_requests_total{model_name="${escaped}",route="chat",action="pass"}`),
      1,
    );
    assert.equal(samples.get(`tokenweir_prompt_tokens_total{model_name="${escaped}",route="chat"}`), 25);
  });
});
