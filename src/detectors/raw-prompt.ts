/**
 * Finds plain text sent to an instruct model's raw route. Silent wherever such text can be meant: base models, fill-in
 * prompts, scoring, ids, and anything that holds a marker which says how it is meant; and where another kind says more.
 */
import { maybeBase } from './causes/plain-prompt.ts';
import { formedPrompts } from './causes/prompt-forms.ts';
import { promptHead } from './causes/prompt-head.ts';
import type { Detector } from './detector.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { Json, RawPrompt } from '../exchange/request/request.ts';

export const rawPrompt: Detector = {
  kind: 'raw-prompt',
  summary: 'A raw route got plain text, without the role markers that an instruct model was trained on.',
  stage: 'request',
  need: 'head',
  severity: 'warning',
  repairs: false,
  detect(exchange) {
    const { facts, request } = exchange;
    if (facts === undefined || isText(request?.json['suffix'])) return [];
    const doubtful = maybeBase(exchange);
    return formedPrompts(exchange)
      .filter(({ of }) => of.form === 'plain')
      .map(({ prompt, promptIndex }) => ({
        ...finding(prompt, promptIndex, facts, doubtful),
        ...promptHead(exchange, promptIndex),
      }));
  },
};

/** Who sends a text that comes behind wants the middle filled in; that the engine ignores it is another kind's. */
function isText(suffix: Json | undefined): boolean {
  return typeof suffix === 'string' && suffix !== '';
}

function finding(
  prompt: RawPrompt,
  promptIndex: number,
  { roleMarkers }: ModelFacts,
  doubtful: boolean,
): Finding {
  const opening = JSON.stringify(
    (roleMarkers.find(({ role }) => role === 'user') ?? roleMarkers[0])?.opening,
  );
  return {
    kind: 'raw-prompt',
    cause: doubtful ? 'maybe-base' : 'plain-text',
    severity: doubtful ? 'info' : 'warning',
    culprit: 'client',
    promptIndex,
    field: formatPath(prompt.path),
    message: `The prompt holds none of the model's role markers (a user's turn opens with ${opening}), so the model continues a text instead of answering.`,
    advice: doubtful
      ? 'The name says that this may be a base model: set models.<name>.kind to base to end this finding, or to instruct to make it a warning.'
      : 'Send the messages to the chat route, which applies the template, or render the template before sending; for a base model set models.<name>.kind to base.',
  };
}
