/**
 * Finds prompts of which the engine left a part out without saying so. Small differences are `count-mismatch`, and what
 * the client asked to be cut has ids that are not known.
 */
import { checkCounts } from './count-check.ts';
import type { Detector } from './detector.ts';
import { byContextArgument } from '../exchange/context-argument.ts';

export const promptTruncated: Detector = {
  kind: 'prompt-truncated',
  summary: 'The engine answered a prompt of which it had left out a part.',
  stage: 'reply',
  need: 'reply',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const check = checkCounts(exchange);
    if (check.result !== 'mismatch') return [];
    const context = exchange.facts?.contextTokens ?? 0;
    const isBeyond = (known: number): boolean => context > 0 && known >= context;
    // Where the prompt would have fitted, more of the context that the engine tells changes nothing.
    const argument = (known: number): string => (isBeyond(known) ? byContextArgument(exchange.facts) : '');
    return check.differences
      .filter(({ truncated }) => truncated)
      .map(({ promptIndex, told, known }) => ({
        kind: 'prompt-truncated',
        cause: isBeyond(known) ? 'beyond-context' : 'within-context',
        severity: 'error',
        culprit: 'engine',
        promptIndex,
        message: `The prompt has ${known} tokens, and the engine answered after reading ${told} of them; ${known - told} are lost${context > 0 ? ` (its context holds ${context})` : ''}.`,
        advice: `Raise the context that the engine gives to one request${argument(known)}, or shorten the conversation before it is sent; which part the engine cut, and whether it can be made to refuse instead, its documentation says.`,
      }));
  },
};
