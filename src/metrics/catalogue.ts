/**
 * Every metric of the product, in one table: docs/metrics.md is generated from it and the meter can move nothing else.
 * Label values come from closed sets; never a session, user, path or error text.
 */
import { actions } from '../exchange/exchange.ts';
import { engineEvents } from '../exchange/engine-event.ts';
import { breakCauses, culprits, findingKinds, severities } from '../exchange/finding.ts';
import { outcomes } from '../exchange/reply.ts';
import { routeKinds } from '../exchange/route.ts';
import { unknownReasons } from '../exchange/token-read.ts';

import {
  countCheckResults,
  evictionReasons,
  factNames,
  inspectionResults,
  inspectionStages,
  lookupSources,
  oracleNames,
  oracleResults,
  tokenSources,
} from './label-sets.ts';

export const metricPrefix = 'tokenweir_';

/** `model`: the engine's own names, capped. `fact`: free text, but one series per model or process. */
export type LabelSet = readonly string[] | 'model' | 'fact';

/** When a metric moves. `settle`: when the reply has ended. `machinery`: whenever the thing happens. */
export type Moment = 'before-forwarding' | 'settle' | 'machinery';

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly moment: Moment;
  /** One sentence; the `# HELP` line and the table in docs/metrics.md. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelSet>>;
  /** Histograms only: upper bounds, ascending. */
  readonly buckets?: readonly number[];
  /** True if the series carry request and trace ids as exemplars. */
  readonly exemplars?: boolean;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const tokenBuckets = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144];

export const catalogue = {
  requests_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Exchanges on generation routes, by what the policy did with them.',
    labels: { model_name: 'model', route: routeKinds, action: actions },
    exemplars: true,
  },
  findings_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Findings, each once; those about the reply are counted at settle.',
    labels: { model_name: 'model', route: routeKinds, kind: findingKinds, severity: severities },
    exemplars: true,
  },
  prefix_breaks_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Prompts that left the prefix of the turn they grew from.',
    labels: { model_name: 'model', cause: breakCauses, culprit: culprits },
    exemplars: true,
  },
  prefix_lost_tokens_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Tokens of the earlier prompt that lay behind a break.',
    labels: { model_name: 'model', cause: breakCauses, culprit: culprits },
    exemplars: true,
  },
  prefix_break_position_tokens: {
    type: 'histogram',
    moment: 'before-forwarding',
    help: 'Position of the first token that differs, in tokens from the start of the prompt.',
    labels: {},
    buckets: tokenBuckets,
    exemplars: true,
  },
  prompt_tokens_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Prompt tokens of exchanges whose ids are known.',
    labels: { model_name: 'model', route: routeKinds },
  },
  prompt_tokens_reusable_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Prompt tokens that the rule of the engine lets it take from its cache, lower bound.',
    labels: { model_name: 'model' },
  },
  prompt_tokens_saved_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Prompt tokens that the engine need not compute again because a changed attribution line was repaired.',
    labels: { model_name: 'model' },
  },
  inspections_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'How far the inspection had come when the request was forwarded or answered.',
    labels: { model_name: 'model', route: routeKinds, result: inspectionResults },
    exemplars: true,
  },
  inspection_unknown_total: {
    type: 'counter',
    moment: 'before-forwarding',
    help: 'Reasons why something could not be known, once per exchange and reason.',
    labels: { reason: unknownReasons },
    exemplars: true,
  },
  replies_total: {
    type: 'counter',
    moment: 'settle',
    help: 'How exchanges ended.',
    labels: { model_name: 'model', route: routeKinds, outcome: outcomes },
    exemplars: true,
  },
  prompt_tokens_cached_total: {
    type: 'counter',
    moment: 'settle',
    help: 'Prompt tokens that replies report as taken from the cache; no series until a reply reports any.',
    labels: { model_name: 'model' },
  },
  prefill_wasted_seconds_total: {
    type: 'counter',
    moment: 'settle',
    help: 'Time to prefill the lost tokens at the rate that the same reply reports.',
    labels: { model_name: 'model', cause: breakCauses },
    exemplars: true,
  },
  count_checks_total: {
    type: 'counter',
    moment: 'settle',
    help: 'Our prompt token count against the one in the reply.',
    labels: { model_name: 'model', result: countCheckResults },
    exemplars: true,
  },
  ids_verified: {
    type: 'gauge',
    moment: 'settle',
    help: '1 while the counts of the engine agree with our ids, 0 after several mismatches in a row.',
    labels: { model_name: 'model' },
  },
  inspection_duration_seconds: {
    type: 'histogram',
    moment: 'machinery',
    help: 'Time spent in a stage of the inspection; whole is from the last body byte to the decision.',
    labels: { stage: inspectionStages },
    buckets: secondsBuckets,
    exemplars: true,
  },
  oracle_requests_total: {
    type: 'counter',
    moment: 'machinery',
    help: 'Questions to the engine and how they ended.',
    labels: { oracle: oracleNames, result: oracleResults },
  },
  tokenized_tokens_total: {
    type: 'counter',
    moment: 'machinery',
    help: 'Tokens by where their ids came from: kept segments, the engine, or the sampled check.',
    labels: { source: tokenSources },
  },
  time_to_first_byte_seconds: {
    type: 'histogram',
    moment: 'machinery',
    help: 'Time from the head of a request on a generation route to the first body byte of the reply.',
    labels: { route: routeKinds },
    buckets: secondsBuckets,
    exemplars: true,
  },
  held_bytes: {
    type: 'gauge',
    moment: 'machinery',
    help: 'Request body bytes held for inspection now, over all requests.',
    labels: {},
  },
  in_flight_requests: {
    type: 'gauge',
    moment: 'machinery',
    help: 'Exchanges that have not ended.',
    labels: {},
  },
  event_loop_lag_seconds: {
    type: 'histogram',
    moment: 'machinery',
    help: 'The longest delay of the event loop in each second.',
    labels: {},
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  sessions: {
    type: 'gauge',
    moment: 'machinery',
    help: 'Conversations remembered now.',
    labels: {},
  },
  session_bytes: {
    type: 'gauge',
    moment: 'machinery',
    help: 'Memory that remembered turns take, overhead included.',
    labels: {},
  },
  session_lookups_total: {
    type: 'counter',
    moment: 'machinery',
    help: 'How exchanges found their session; new if they matched none.',
    labels: { source: lookupSources },
  },
  session_evictions_total: {
    type: 'counter',
    moment: 'machinery',
    help: 'Remembered turns that were dropped.',
    labels: { reason: evictionReasons },
  },
  rejections_suspended: {
    type: 'gauge',
    moment: 'machinery',
    help: '1 while the circuit breaker keeps strict mode from blocking, because too much would be rejected.',
    labels: {},
  },
  upstream_up: {
    type: 'gauge',
    moment: 'machinery',
    help: '1 if the engine answered when last asked, else 0.',
    labels: {},
  },
  model_info: {
    type: 'gauge',
    moment: 'machinery',
    help: 'Always 1; the facts learnt about a model. A changed fact replaces the series.',
    labels: {
      model_name: 'model',
      engine: 'fact',
      build: 'fact',
      template_hash: 'fact',
      adds_bos: ['true', 'false'],
    },
  },
  facts_changes_total: {
    type: 'counter',
    moment: 'machinery',
    help: 'Facts of a model that changed while we watched.',
    labels: { model_name: 'model', what: factNames },
  },
  engine_events_total: {
    type: 'counter',
    moment: 'machinery',
    help: 'Events of the engine, each told once.',
    labels: { event: engineEvents },
  },
  build_info: {
    type: 'gauge',
    moment: 'machinery',
    help: 'Always 1; the running version.',
    labels: { version: 'fact', node_version: 'fact' },
  },
  config_last_reload_successful: {
    type: 'gauge',
    moment: 'machinery',
    help: '1 if the configuration was valid when last loaded, else 0.',
    labels: {},
  },
  config_last_reload_success_timestamp_seconds: {
    type: 'gauge',
    moment: 'machinery',
    help: 'When a valid configuration was last loaded, in seconds since 1970.',
    labels: {},
  },
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
