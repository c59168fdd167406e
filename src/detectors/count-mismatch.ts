/** Finds prompts whose length by the engine's account differs from the ids that were read, but for truncated ones. */
import { checkCounts } from './count-check.ts';
import type { Detector } from './detector.ts';

export const countMismatch: Detector = {
  kind: 'count-mismatch',
  summary: "The engine's own prompt count differs from the ids that were read.",
  stage: 'reply',
  need: 'reply',
  severity: 'warning',
  repairs: false,
  detect(exchange) {
    const check = checkCounts(exchange);
    if (check.result !== 'mismatch') return [];
    return check.differences
      .filter(({ truncated }) => !truncated)
      .map(({ promptIndex, told, known }) => ({
        kind: 'count-mismatch',
        cause: told === known ? 'other-ids' : told < known ? 'engine-fewer' : 'engine-more',
        severity: 'warning',
        culprit: 'engine',
        promptIndex,
        message:
          told === known
            ? `The engine tells ${told} ids of the prompt, as many as were read, and they are not the same.`
            : `The engine counts ${told} prompt tokens and the ids that were read are ${known}, a difference of ${Math.abs(told - known)}.`,
        advice:
          'Do not rely on this model\'s other findings until it is explained: run "tokenweir doctor" against the engine, and report the engine\'s build and the model.',
      }));
  },
};
