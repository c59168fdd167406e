/** What is counted before a request is forwarded: it is there when the engine is still at work. */
import { actions } from '../exchange/exchange.ts';
import { breakCauses, culprits, findingKinds, severities } from '../exchange/finding.ts';
import { routeKinds } from '../exchange/request/route.ts';
import { unknownReasons } from '../exchange/token-read.ts';
import { inspectionResults } from './label-sets.ts';
import type { MetricDefinition } from './metric-definition.ts';

const tokenBuckets = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144];

export const requestMetrics = {
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
} as const satisfies Record<string, MetricDefinition>;
