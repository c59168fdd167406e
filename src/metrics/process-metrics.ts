/**
 * Node's own process metrics (CPU, memory, file descriptors, garbage collection) under our prefix. They are prom-client's
 * and no part of the catalogue: their names may change with it.
 */
import { collectDefaultMetrics } from 'prom-client';

import { metricPrefix } from './catalogue.ts';
import type { OpenMetricsRegistry } from './instruments.ts';

/** Gauges that end in `_total`, which OpenMetrics keeps for counters, and the lag that we measure ourselves. */
const leftOut = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
];

/** Once per registry; prom-client starts observers that live as long as the process. */
export function collectProcessMetrics(registry: OpenMetricsRegistry): void {
  collectDefaultMetrics({ register: registry, prefix: metricPrefix });
  for (const name of leftOut) registry.removeSingleMetric(metricPrefix + name);
}
