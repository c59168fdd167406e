/**
 * Finds requests that the engine refused as too long for its context, and prompts that nearly fill it. The numbers are
 * the engine's own, else those of the ids and facts.
 */
import { toldPromptTokens } from './count-check.ts';
import type { Detector } from './detector.ts';
import { byContextArgument } from '../exchange/context-argument.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { bringsMedia } from '../exchange/request/media-parts.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ContextRefusal } from '../exchange/reply/reply.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';

/** A prompt that leaves less than this for the answer and the next turn is told of, */
const marginTokens = 256;
/** but of a small context no more than this share is margin. */
const marginShare = 1 / 8;

export const contextOverflow: Detector = {
  kind: 'context-overflow',
  summary: "The request did not fit into the engine's context, or only just.",
  stage: 'reply',
  need: 'answer',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const { request, reply } = exchange;
    if (request === undefined || reply === undefined) return [];
    if (reply.refusal !== undefined) return [refused(exchange, request, reply.refusal)];
    return reply.status < 400 && reply.started ? nearlyFull(exchange, request) : [];
  },
};

function refused({ prompts, facts }: Exchange, request: GenerationRequest, refusal: ContextRefusal): Finding {
  const context = refusal.contextTokens ?? (facts?.contextTokens === 0 ? undefined : facts?.contextTokens);
  const read = Math.max(0, ...prompts.map((prompt) => (prompt.known ? prompt.ids.length : 0)));
  // An engine that stops counting at its limit tells a lower bound.
  const prompt = Math.max(read, refusal.promptTokens ?? 0);
  const answer = refusal.answerTokens ?? request.maxTokens;
  // Some engines refuse a limit that no prompt could go with before they count the prompt.
  const limitAlone =
    refusal.promptTokens === undefined && (refusal.answerTokens ?? 0) > (context ?? Infinity);
  const { maxTokensField } = request;
  const has = `the engine's context of ${context ?? 'unknown length'}${context === undefined ? '' : ' tokens'}`;
  if (context !== undefined && (limitAlone || prompt > 0) && prompt < context) {
    return {
      ...common('limit-too-high', 'warning'),
      ...(maxTokensField !== undefined && { field: maxTokensField }),
      message: `The engine refused the request: ${prompt > 0 ? `its prompt of ${prompt} tokens fits` : 'its prompt may fit'} into ${has}, but not together with the ${answer ?? 'number of'} tokens that the answer may take.`,
      advice: `Set ${maxTokensField ?? 'the limit on the answer'} to ${context - prompt} or less, or leave it out.`,
    };
  }
  return {
    ...common('prompt-too-long', 'error'),
    field: promptField(request),
    message: `The engine refused the request: its prompt of ${prompt > 0 ? prompt : 'too many'} tokens does not fit into ${has}.`,
    advice: `Shorten or compact the conversation, or give each request ${largerContext(facts)}; tell the client the context that one request has, which may be a part of what the engine has in all.`,
  };
}

function nearlyFull({ prompts, facts, reply }: Exchange, request: GenerationRequest): Finding[] {
  const context = facts?.contextTokens ?? 0;
  if (context === 0 || reply === undefined) return [];
  const margin = Math.min(marginTokens, context * marginShare);
  const hasMedia = bringsMedia(request);
  return prompts.flatMap((read, promptIndex) => {
    const known = read.known && !hasMedia ? read.ids.length : 0;
    const tokens = toldPromptTokens(reply, promptIndex, request.choices) ?? known;
    // One that did not fit was cut, and of that another kind tells.
    if (Math.max(tokens, known) > context || context - tokens > margin) return [];
    return [
      {
        ...common('near-limit', 'warning'),
        promptIndex,
        field: promptField(request),
        message: `The prompt of ${tokens} tokens leaves ${context - tokens} of the engine's context of ${context} tokens for the answer.`,
        advice: `Compact the conversation before its next turn, or give each request ${largerContext(facts)}.`,
      },
    ];
  });
}

function largerContext(facts: ModelFacts | undefined): string {
  return `a larger context in the engine${byContextArgument(facts)}`;
}

function common(
  cause: string,
  severity: Finding['severity'],
): Pick<Finding, 'kind' | 'cause' | 'severity' | 'culprit' | 'promptIndex'> {
  return { kind: 'context-overflow', cause, severity, culprit: 'client', promptIndex: 0 };
}

/** The field that holds the conversation, whichever dialect it came in. */
function promptField(request: GenerationRequest): string {
  const [path] = request.kind === 'completion' ? request.prompts : request.messages.slice(-1);
  return formatPath((path?.path ?? []).slice(0, 1));
}
