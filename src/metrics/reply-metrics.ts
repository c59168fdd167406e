/** What is counted when a reply has ended: what the engine itself says of an exchange. */
import { breakCauses } from '../exchange/finding.ts';
import { outcomes } from '../exchange/reply/reply.ts';
import { routeKinds } from '../exchange/request/route.ts';
import { countCheckResults } from './label-sets.ts';
import type { MetricDefinition } from './metric-definition.ts';

export const replyMetrics = {
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
} as const satisfies Record<string, MetricDefinition>;
