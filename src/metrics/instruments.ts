/**
 * The catalogue as prom-client metrics, on a registry of our own. The only file that knows prom-client's API for them;
 * it takes label values and names from the catalogue's types, so that an open label set does not compile.
 */
import { Counter, Gauge, Histogram, Registry, type OpenMetricsContentType } from 'prom-client';

import { catalogue, metricPrefix, type LabelsOf, type MetricName, type MetricsOfType } from './catalogue.ts';
import type { MetricDefinition } from './metric-definition.ts';

type CounterName = MetricsOfType<'counter'>;
type GaugeName = MetricsOfType<'gauge'>;
type HistogramName = MetricsOfType<'histogram'>;

/** Ids of the request that moved a metric; at most 128 characters with their names, or prom-client throws. */
export type ExemplarLabels = Readonly<Partial<Record<'request_id' | 'trace_id', string>>>;

export type OpenMetricsRegistry = Registry<OpenMetricsContentType>;

export class Instruments {
  /** Always in the OpenMetrics form: prom-client keeps exemplars in no other. */
  readonly registry: OpenMetricsRegistry = new Registry<OpenMetricsContentType>();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #gauges = new Map<MetricName, Gauge>();
  readonly #histograms = new Map<MetricName, Histogram>();

  constructor() {
    this.registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    for (const [name, definition] of Object.entries(catalogue) as [MetricName, MetricDefinition][]) {
      const options = {
        name: metricPrefix + name,
        help: definition.help,
        labelNames: Object.keys(definition.labels),
        registers: [this.registry],
      };
      const enableExemplars = definition.exemplars ?? false;
      if (definition.type === 'counter') {
        this.#counters.set(name, new Counter({ ...options, enableExemplars }));
      } else if (definition.type === 'gauge') {
        this.#gauges.set(name, new Gauge(options));
      } else {
        const buckets = [...(definition.buckets ?? [])];
        this.#histograms.set(name, new Histogram({ ...options, buckets, enableExemplars }));
      }
    }
  }

  /** Adds to a counter. 0 makes the series appear. */
  add<Name extends CounterName>(
    name: Name,
    labels: LabelsOf<Name>,
    value: number,
    exemplar?: ExemplarLabels,
  ): void {
    const counter = present(this.#counters, name);
    if (takesExemplars(name)) {
      counter.inc({ labels: plain(labels), value, ...(exemplar && { exemplarLabels: exemplar }) });
    } else {
      counter.inc(plain(labels), value);
    }
  }

  set<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, value: number): void {
    present(this.#gauges, name).set(plain(labels), value);
  }

  /** Drops one series of a gauge; nothing happens if there is none. */
  remove<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>): void {
    present(this.#gauges, name).remove(plain(labels));
  }

  observe<Name extends HistogramName>(
    name: Name,
    labels: LabelsOf<Name>,
    value: number,
    exemplar?: ExemplarLabels,
  ): void {
    const histogram = present(this.#histograms, name);
    if (takesExemplars(name)) {
      histogram.observe({ labels: plain(labels), value, ...(exemplar && { exemplarLabels: exemplar }) });
    } else {
      histogram.observe(plain(labels), value);
    }
  }

  /** Makes a histogram's series appear with all buckets at 0. Resets a series that exists. */
  zero<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>): void {
    present(this.#histograms, name).zero(plain(labels));
  }
}

/** prom-client's view of the labels: it cannot see through a type that depends on the metric's name. */
function plain(labels: object): Record<string, string> {
  return labels as Record<string, string>;
}

function takesExemplars(name: MetricName): boolean {
  const definition: MetricDefinition = catalogue[name];
  return definition.exemplars ?? false;
}

function present<Value>(metrics: ReadonlyMap<MetricName, Value>, name: MetricName): Value {
  const metric = metrics.get(name);
  if (metric === undefined) throw new TypeError(`no metric ${name} of this type in the catalogue`);
  return metric;
}
