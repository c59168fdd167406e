/**
 * Every metric of the product, in one table: docs/metrics.md is generated from it and the meter can move nothing else.
 * Label values come from closed sets; never a session, user, path or error text.
 */
import { machineryMetrics } from './machinery-metrics.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { replyMetrics } from './reply-metrics.ts';
import { requestMetrics } from './request-metrics.ts';

export const metricPrefix = 'tokenweir_';

export const catalogue = {
  ...requestMetrics,
  ...replyMetrics,
  ...machineryMetrics,
} as const satisfies Record<string, MetricDefinition>;

type Catalogue = typeof catalogue;
export type MetricName = keyof Catalogue;
export type MetricsOfType<T extends MetricDefinition['type']> = {
  [Name in MetricName]: Catalogue[Name]['type'] extends T ? Name : never;
}[MetricName];

/** The labels that a metric needs, each with the values it may have. */
export type LabelsOf<Name extends MetricName> = {
  readonly [
    Label in keyof Catalogue[Name]['labels']
  ]: Catalogue[Name]['labels'][Label] extends readonly (infer Value)[] ? Value : string;
};
