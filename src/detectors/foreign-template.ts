/**
 * Finds conversations in a form that the served model was not trained on: other families' markers, misspelt or unfilled ones
 * of its own. Silent where markers are spoken of, shown or quoted; isolated ones are no frame of anything.
 */
import { markerTokens, renderedOffset } from './causes/content-place.ts';
import { foreignMessage, type ForeignFrame } from './causes/foreign-frame.ts';
import {
  toldOfFillIn,
  toldOfFrame,
  toldOfMistyped,
  toldOfUnended,
  toldOfUnfilled,
} from './causes/foreign-words.ts';
import { charactersOf, formedPrompts, type FormedPrompt } from './causes/prompt-forms.ts';
import { textTokens } from './causes/prompt-head.ts';
import { spokenTexts, type SpokenText } from './causes/spoken-texts.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest } from '../exchange/request/request.ts';

const mostFindings = 16;

export const foreignTemplate: Detector = {
  kind: 'foreign-template',
  summary: 'A conversation is written in markers that are not those of the model that reads it.',
  stage: 'request',
  need: 'head',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const { request, facts } = exchange;
    if (request === undefined || facts === undefined) return [];
    return request.kind === 'chat'
      ? inChat(exchange, request, facts)
      : formedPrompts(exchange).flatMap((prompt) => inPrompt(exchange, facts, prompt));
  },
};

function inPrompt(
  { prompts }: Exchange,
  facts: ModelFacts,
  { prompt, promptIndex, of }: FormedPrompt,
): Finding[] {
  if (of.form === 'plain' || of.form === 'stringified') return [];
  const field = formatPath(prompt.path);
  const common = {
    kind: 'foreign-template',
    severity: 'error',
    culprit: 'client',
    promptIndex,
    field,
  } as const;
  const read = prompts[promptIndex];
  if (of.form === 'unfilled') {
    const { start, end } = of.opening;
    const told = toldOfUnfilled(of.opening, field);
    return [
      { ...common, ...told, ...charactersOf(prompt, { start, end }), ...textTokens(read, start, start) },
    ];
  }
  if (of.form === 'mistyped') {
    const { marker, start } = of.found;
    const characters = charactersOf(prompt, { start, end: start + marker.length });
    return [
      { ...common, ...toldOfMistyped(of.found, field), ...characters, ...textTokens(read, start, start) },
    ];
  }
  if (of.form === 'unended') {
    const { turn, answer } = of.found;
    const characters = charactersOf(prompt, { start: turn.start, end: answer.end });
    const tokens = textTokens(read, turn.start, answer.start);
    return [{ ...common, severity: 'warning', ...toldOfUnended(of.found, field), ...characters, ...tokens }];
  }
  if (of.form === 'fill-in') {
    const { marker, start, last } = of.found;
    const characters = charactersOf(prompt, { start, end: start + marker.length });
    return [{ ...common, ...toldOfFillIn(of.found, field), ...characters, ...textTokens(read, start, last) }];
  }
  const { first, last } = of.frame;
  const characters = charactersOf(prompt, { start: first.start, end: last.end });
  const told = toldOfFrame(of.frame, facts, field, 'prompt');
  return [{ ...common, ...told, ...characters, ...textTokens(read, first.start, last.start) }];
}

function inChat(exchange: Exchange, request: ChatRequest, facts: ModelFacts): Finding[] {
  const { roleMarkers, templateOrigin } = facts;
  // Where the template is not the model's, its own form is not known.
  if (exchange.modelKind === 'base' || roleMarkers.length === 0 || templateOrigin !== undefined) return [];
  const findings: Finding[] = [];
  const spoken = spokenTexts(request);
  for (let index = 0; index < spoken.texts.length; index += 1) {
    const frame = foreignMessage(spoken.texts[index] ?? '', facts, spoken.isAlone);
    const found = frame && inMessage(exchange, request, facts, spoken.at(index), frame);
    if (found !== undefined) findings.push(found);
    if (findings.length === mostFindings) break;
  }
  return findings;
}

/** Undefined for what has not come into the prompt as it was sent. */
function inMessage(
  exchange: Exchange,
  request: ChatRequest,
  facts: ModelFacts,
  one: SpokenText,
  frame: ForeignFrame,
): Finding | undefined {
  const { first, last } = frame;
  const field = formatPath(one.path);
  const told: Finding = {
    kind: 'foreign-template',
    severity: 'error',
    culprit: 'client',
    promptIndex: 0,
    field,
    characters: { start: first.start, end: last.end },
    ...toldOfFrame(frame, facts, field, 'message'),
  };
  const [read] = exchange.prompts;
  if (read?.known !== true || read.text === undefined) return told;
  const marker = { at: first.start, marker: first.text };
  const at = renderedOffset(request, read.text, facts.roleMarkers, one, marker);
  // Not there as it was sent: the template has left it out or changed it, and nothing came of it.
  if (at === undefined) return undefined;
  // Media take up positions that our ids don't have.
  const tokens = request.hasMedia ? undefined : markerTokens(read, at, at + last.start - first.start);
  return { ...told, ...(tokens && { tokens }) };
}
