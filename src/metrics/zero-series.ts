/**
 * Series at 0 before anything has happened: `rate()` and alerts see the first event only if the series was there.
 * What would say "none" where the truth is "not told" (cached tokens, verified ids) is left out on purpose.
 */
import { actions } from '../exchange/exchange.ts';
import { engineEvents } from '../exchange/engine-event.ts';
import { breakCauses, findingKinds } from '../exchange/finding.ts';
import { oracleNames, oracleResults } from '../exchange/oracle.ts';
import { outcomes } from '../exchange/reply/reply.ts';
import { unknownReasons } from '../exchange/token-read.ts';

import type { Instruments } from './instruments.ts';
import {
  causeCulprits,
  countCheckResults,
  evictionReasons,
  factNames,
  generationRoutes,
  inspectionResults,
  inspectionStages,
  kindSeverities,
  lookupSources,
  tokenSources,
} from './label-sets.ts';

/** The series that belong to no model. Once, before anything is counted. */
export function startProcessSeries(instruments: Instruments): void {
  for (const reason of unknownReasons) instruments.add('inspection_unknown_total', { reason }, 0);
  for (const oracle of oracleNames) {
    for (const result of oracleResults) instruments.add('oracle_requests_total', { oracle, result }, 0);
  }
  instruments.set('rejections_suspended', {}, 0);
  for (const source of tokenSources) instruments.add('tokenized_tokens_total', { source }, 0);
  for (const source of lookupSources) instruments.add('session_lookups_total', { source }, 0);
  for (const reason of evictionReasons) instruments.add('session_evictions_total', { reason }, 0);
  for (const event of engineEvents) instruments.add('engine_events_total', { event }, 0);
  for (const stage of inspectionStages) instruments.zero('inspection_duration_seconds', { stage });
  for (const route of generationRoutes) instruments.zero('time_to_first_byte_seconds', { route });
}

/** The series of one model. Harmless to repeat: counters are moved by 0. */
export function startModelSeries(instruments: Instruments, modelLabel: string): void {
  const model_name = modelLabel;
  for (const route of generationRoutes) {
    for (const action of actions) instruments.add('requests_total', { model_name, route, action }, 0);
    for (const kind of findingKinds) {
      for (const severity of kindSeverities[kind]) {
        instruments.add('findings_total', { model_name, route, kind, severity }, 0);
      }
    }
    for (const result of inspectionResults) {
      instruments.add('inspections_total', { model_name, route, result }, 0);
    }
    for (const outcome of outcomes) instruments.add('replies_total', { model_name, route, outcome }, 0);
    instruments.add('prompt_tokens_total', { model_name, route }, 0);
  }
  for (const cause of breakCauses) {
    for (const culprit of causeCulprits[cause]) {
      instruments.add('prefix_breaks_total', { model_name, cause, culprit }, 0);
      instruments.add('prefix_lost_tokens_total', { model_name, cause, culprit }, 0);
    }
    instruments.add('prefill_wasted_seconds_total', { model_name, cause }, 0);
  }
  for (const result of countCheckResults) instruments.add('count_checks_total', { model_name, result }, 0);
  for (const what of factNames) instruments.add('facts_changes_total', { model_name, what }, 0);
  instruments.add('prompt_tokens_reusable_total', { model_name }, 0);
  instruments.add('prompt_tokens_saved_total', { model_name }, 0);
}
