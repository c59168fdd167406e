/** The recorder behind every metric. Built once by the composition root; everybody else sees the `Meter` type. */
import { createExchangeMeter } from './exchange-meter.ts';
import { exemplarOf } from './exemplar.ts';
import { plainText, type ExpositionForm } from './exposition.ts';
import { Instruments } from './instruments.ts';
import type { LabelsOf } from './catalogue.ts';
import type { Meter } from './meter-type.ts';
import { ModelLabels, otherModels, unknownModel } from './model-labels.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import { startModelSeries, startProcessSeries } from './zero-series.ts';

export interface MeterOptions {
  /** The most models that get series of their own (`limits.modelLabels`); the rest are `other`. */
  readonly modelLabels: number;
  /** Node's own process metrics beside ours. @defaultValue false */
  readonly processMetrics?: boolean;
}

export interface Metrics {
  readonly meter: Meter;
  /** All metrics as text, in the form that `negotiateForm` chose. */
  readonly scrape: (form: ExpositionForm) => Promise<string>;
}

/** Metrics on a registry of their own: two proxies in one process do not share them. */
export function createMetrics({ modelLabels, processMetrics = false }: MeterOptions): Metrics {
  const instruments = new Instruments();
  const models = new ModelLabels(modelLabels);
  const started = new Set<string>();
  const infoSeries = new Map<string, LabelsOf<'model_info'>>();

  function labelOf(modelName: string): string {
    const label = models.labelOf(modelName);
    if (!started.has(label)) {
      started.add(label);
      startModelSeries(instruments, label);
    }
    return label;
  }

  startProcessSeries(instruments);
  labelOf(unknownModel);
  if (processMetrics) collectProcessMetrics(instruments.registry);

  const meter: Meter = {
    ...createExchangeMeter(instruments, labelOf),
    initialiseModel: (modelName) => {
      labelOf(modelName);
    },
    oracleRequest: (oracle, result) => {
      instruments.add('oracle_requests_total', { oracle, result }, 1);
    },
    tokenizedTokens: (source, tokens) => {
      instruments.add('tokenized_tokens_total', { source }, tokens);
    },
    inspectionDuration: (stage, seconds, request) => {
      instruments.observe('inspection_duration_seconds', { stage }, seconds, exemplarOf(request));
    },
    timeToFirstByte: (route, seconds, request) => {
      instruments.observe('time_to_first_byte_seconds', { route }, seconds, exemplarOf(request));
    },
    heldBytes: (bytes) => {
      instruments.set('held_bytes', {}, bytes);
    },
    inFlight: (requests) => {
      instruments.set('in_flight_requests', {}, requests);
    },
    eventLoopLag: (seconds) => {
      instruments.observe('event_loop_lag_seconds', {}, seconds);
    },
    sessions: (count, bytes) => {
      instruments.set('sessions', {}, count);
      instruments.set('session_bytes', {}, bytes);
    },
    sessionLookup: (source) => {
      instruments.add('session_lookups_total', { source }, 1);
    },
    sessionEviction: (reason, turns = 1) => {
      instruments.add('session_evictions_total', { reason }, turns);
    },
    rejectionsSuspended: (suspended) => {
      instruments.set('rejections_suspended', {}, suspended ? 1 : 0);
    },
    upstreamUp: (up) => {
      instruments.set('upstream_up', {}, up ? 1 : 0);
    },
    modelInfo: (facts) => {
      const model_name = labelOf(facts.modelName);
      if (model_name === otherModels) return;
      const earlier = infoSeries.get(model_name);
      if (earlier) instruments.remove('model_info', earlier);
      const labels: LabelsOf<'model_info'> = {
        model_name,
        engine: facts.engine,
        build: facts.build,
        template_hash: facts.templateHash,
        adds_bos: facts.addedPrefix.completion.length > 0 ? 'true' : 'false',
      };
      infoSeries.set(model_name, labels);
      instruments.set('model_info', labels, 1);
    },
    engineEvent: (event) => {
      instruments.add('engine_events_total', { event }, 1);
    },
    factsChange: (modelName, what) => {
      instruments.add('facts_changes_total', { model_name: labelOf(modelName), what }, 1);
    },
    idsVerified: (modelName, verified) => {
      instruments.set('ids_verified', { model_name: labelOf(modelName) }, verified ? 1 : 0);
    },
    configReload: (successful, atMs) => {
      instruments.set('config_last_reload_successful', {}, successful ? 1 : 0);
      if (successful) instruments.set('config_last_reload_success_timestamp_seconds', {}, atMs / 1000);
    },
    buildInfo: (version, nodeVersion) => {
      instruments.set('build_info', { version, node_version: nodeVersion }, 1);
    },
  };

  return {
    meter,
    scrape: async (form) => {
      const text = await instruments.registry.metrics();
      return form === 'openmetrics' ? text : plainText(text);
    },
  };
}
