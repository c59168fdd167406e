/** What is measured of the proxy, the engine and the models whenever it happens. */
import { engineEvents } from '../exchange/engine-event.ts';
import { oracleNames, oracleResults } from '../exchange/oracle.ts';
import { routeKinds } from '../exchange/request/route.ts';
import { evictionReasons, factNames, inspectionStages, lookupSources, tokenSources } from './label-sets.ts';
import type { MetricDefinition } from './metric-definition.ts';

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

export const machineryMetrics = {
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
