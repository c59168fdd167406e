/** Finds replies that were cut by a limit on generated tokens, and tool calls that are no JSON. Judges whole replies only. */
import { counted } from '../exchange/counted.ts';
import type { Detector } from './detector.ts';
import type { Culprit, Finding, Severity } from '../exchange/finding.ts';
import type { ChoiceReply } from '../exchange/reply/reply.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';

type TruncationCause =
  'cut-tool-call' | 'invalid-tool-arguments' | 'reasoning-only' | 'default-limit' | 'own-limit';

interface Cut {
  readonly cause: TruncationCause;
  readonly severity: Severity;
  readonly culprit: Culprit;
}

export const outputTruncated: Detector = {
  kind: 'output-truncated',
  summary: 'The reply was cut by a limit on generated tokens.',
  stage: 'reply',
  need: 'reply',
  severity: 'error',
  repairs: false,
  detect({ request, reply }) {
    if (request === undefined || reply?.complete !== true) return [];
    return reply.choices.flatMap((choice) => {
      const cut = cutOf(choice, request.maxTokens);
      return cut === undefined ? [] : [finding(choice, cut, request)];
    });
  },
};

/** Undefined if the choice ended by itself. The count of tokens is believed before the finish reason. */
function cutOf(choice: ChoiceReply, ownLimit: number | undefined): Cut | undefined {
  const reachedOwnLimit =
    ownLimit !== undefined &&
    ownLimit > 0 &&
    choice.completionTokens !== undefined &&
    choice.completionTokens >= ownLimit;
  const cut = choice.finishReason === 'length' || reachedOwnLimit;
  const culprit = ownLimit === undefined ? 'engine' : 'client';
  if (choice.toolArgumentsValid === false) {
    return cut
      ? { cause: 'cut-tool-call', severity: 'error', culprit }
      : { cause: 'invalid-tool-arguments', severity: 'error', culprit: 'engine' };
  }
  if (!cut) return undefined;
  if (choice.hasReasoning && !choice.hasAnswerText && !choice.hasToolCalls) {
    return { cause: 'reasoning-only', severity: 'error', culprit };
  }
  return ownLimit === undefined
    ? { cause: 'default-limit', severity: 'warning', culprit }
    : { cause: 'own-limit', severity: 'info', culprit };
}

function finding(
  choice: ChoiceReply,
  { cause, severity, culprit }: Cut,
  request: GenerationRequest,
): Finding {
  const { maxTokens: ownLimit, maxTokensField: field } = request;
  const after =
    choice.completionTokens === undefined ? '' : ` after ${counted(choice.completionTokens, 'token')}`;
  const what: Record<TruncationCause, string> = {
    'cut-tool-call': `The reply ended${after} inside a tool call, whose arguments are no JSON`,
    'invalid-tool-arguments': `The arguments of a tool call are no JSON, though no limit cut the reply`,
    'reasoning-only': `The reply ended${after} inside the reasoning, so there is no answer`,
    'default-limit': `The answer was cut${after}`,
    'own-limit': `The answer was cut${after}`,
  };
  const limit =
    ownLimit === undefined
      ? 'a limit of the engine: its default or the context'
      : `the request's own limit of ${ownLimit}`;
  const byLimit = cause === 'invalid-tool-arguments' ? '' : `, by ${limit}`;
  const saysOtherwise =
    choice.finishReason !== undefined && choice.finishReason !== 'length' && byLimit !== '';
  return {
    kind: 'output-truncated',
    cause,
    severity,
    culprit,
    promptIndex: choice.index,
    ...(field !== undefined && culprit === 'client' && { field }),
    message: `${what[cause]}${byLimit}${saysOtherwise ? `; the engine's finish reason (${choice.finishReason}) does not say so` : ''}.`,
    advice: adviceFor(cause, request),
  };
}

function adviceFor(cause: TruncationCause, request: GenerationRequest): string {
  if (cause === 'invalid-tool-arguments') {
    return "Don't replay this tool call: many engines refuse a history that holds it. Look at the engine's tool-call parser.";
  }
  const usualField =
    request.kind === 'chat' && request.dialect === 'responses' ? 'max_output_tokens' : 'max_tokens';
  const raise =
    request.maxTokensField === undefined
      ? `Set ${usualField}, or raise the limit or context of the engine`
      : `Raise ${request.maxTokensField}`;
  if (cause === 'cut-tool-call')
    return `${raise}, and don't replay the cut call: many engines refuse a history that holds it.`;
  if (cause === 'reasoning-only') return `${raise}, or bound the reasoning.`;
  return `${raise} if the whole answer is wanted.`;
}
