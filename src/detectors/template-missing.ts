/**
 * Finds chats that are rendered by another template than the model's own. Only what the engine shows counts: a template
 * that is its own, markers that are no tokens, a stop token of another kind. Plain text alone is no sign: some models have
 * been trained on nothing else.
 */
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Culprit, Finding, Severity } from '../exchange/finding.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { KnownTokens } from '../exchange/token-read.ts';
import { familiesAmong, familyOpening } from '../tokens/marker-families.ts';

interface Fault {
  readonly cause: string;
  readonly severity: Severity;
  readonly culprit: Culprit;
  readonly message: string;
  /** Where nobody can be told to change anything yet. */
  readonly advice?: string;
}

export const templateMissing: Detector = {
  kind: 'template-missing',
  summary: "The engine renders chats by another template than the model's own, or has none.",
  stage: 'request',
  need: 'facts',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const { request, facts } = exchange;
    // A request that brings its own template is rendered by that.
    if (request?.kind !== 'chat' || facts === undefined || (request.json['chat_template'] ?? null) !== null)
      return [];
    const fault = faultOf(facts);
    if (fault === undefined) return [];
    return [
      {
        kind: 'template-missing',
        fact: fault.cause,
        promptIndex: 0,
        ...placeOf(exchange, facts),
        advice:
          'Whoever serves the model must start the engine with the chat template that the model was trained on; the client is not the cause.',
        ...fault,
      },
    ];
  },
};

function faultOf(facts: ModelFacts): Fault | undefined {
  const { templateOrigin, templateFirstLine } = facts;
  if (templateOrigin === 'none') {
    return {
      cause: 'no-template',
      severity: 'error',
      culprit: 'model-file',
      message:
        'The model has no chat template and the engine takes no other in its place: it refuses every chat.',
    };
  }
  if (templateOrigin === 'name') {
    return {
      cause: 'name-only',
      severity: 'error',
      culprit: 'engine',
      message: `The engine takes the name of a template (${JSON.stringify(templateFirstLine)}) for the template: every prompt is this word, and nothing of the messages is in it.`,
    };
  }
  return templateOrigin === 'default' ? defaultTemplate(facts) : (unknownMarkers(facts) ?? otherStop(facts));
}

/** Served where the model file has no template, or because the engine was told to. */
function defaultTemplate(facts: ModelFacts): Fault {
  const { start, isToken } = servedStart(facts);
  const fault = { cause: 'engine-default', culprit: 'engine' } as const;
  const served = "The engine serves its own default template, not the model's";
  return isToken
    ? {
        ...fault,
        severity: 'warning',
        message: `${served}: the vocabulary has what opens its turns (${start}), but whatever else the model's own template writes (tools, reasoning, texts of its own) is not in the prompt.`,
      }
    : {
        ...fault,
        severity: 'error',
        message: `${served}: what opens its turns (${start}) is no token of this vocabulary, and reaches the model as ordinary text.`,
      };
}

function unknownMarkers(facts: ModelFacts): Fault | undefined {
  const { start, isToken } = servedStart(facts);
  if (start === undefined || isToken) return undefined;
  const [other] = familiesAmong(tokensOf(facts));
  const opening = other?.openings[0]?.start;
  const isOther =
    opening === undefined ? '' : `; the vocabulary has what opens turns of another (${opening})`;
  return {
    cause: 'unknown-markers',
    // A vocabulary without any may be that of a model that was tuned on markers as text.
    severity: opening === undefined ? 'warning' : 'error',
    culprit: 'template',
    message: `The chat template opens turns with ${start}, which is no token of this vocabulary and reaches the model as ordinary text${isOther}.`,
  };
}

/** Undefined too if the model file says where to stop in a way that nothing can be read from. */
function otherStop(facts: ModelFacts): Fault | undefined {
  const { eos, turnEnds = [], roleMarkers, templateName } = facts;
  const { start } = servedStart(facts);
  const served = start ?? plainStart(facts);
  if (eos === undefined || served === undefined) return undefined;
  const family = familiesAmong(tokensOf(facts)).find(({ ends }) => ends.includes(eos.text));
  const [opening] = family?.openings ?? [];
  const written = [...turnEnds, ...roleMarkers.map((marker) => marker.opening)];
  if (opening === undefined || written.some((text) => text.includes(eos.text))) return undefined;
  if (family?.openings.some((one) => one.start === served) === true) return undefined;
  const fault = { cause: 'other-stop-token', severity: 'warning', culprit: 'template' } as const;
  const beside = `it opens turns with ${served}, and the vocabulary has what opens the turns that end so (${opening.start})`;
  const stops = `The model stops at ${eos.text}, which the chat template never writes: ${beside}`;
  if (start !== undefined) return { ...fault, message: `${stops}.` };
  if (templateName === undefined) return { ...fault, ...maybeTunedOnWords(stops) };
  return {
    ...fault,
    culprit: 'engine',
    message: `The engine was told to take a template of its own by name (${JSON.stringify(templateName)}), not the model's. ${stops}.`,
  };
}

/** A tune keeps the vocabulary and the stop token of what it was made from, and the end may be taught outside the template. */
function maybeTunedOnWords(stops: string): Pick<Fault, 'severity' | 'message' | 'advice'> {
  return {
    severity: 'info',
    message: `${stops}. A model that was tuned on these words is served right; which one this is can't be told from outside.`,
    advice:
      'If the model was trained on the form that ends so, whoever serves it must start the engine with that template; if it was tuned on these words, nothing is wrong.',
  };
}

/** What the served template opens turns with, if that is a family's that is tokens everywhere. */
function servedStart(facts: ModelFacts): { readonly start: string | undefined; readonly isToken: boolean } {
  const tokens = tokensOf(facts);
  for (const { opening } of facts.roleMarkers) {
    const starts = familyOpening(opening)?.openings.map(({ start }) => start) ?? [];
    const start = starts.find((one) => opening.includes(one));
    if (start !== undefined) return { start, isToken: starts.some((one) => tokens.has(one)) };
  }
  return { start: undefined, isToken: false };
}

/** Engines take it for a token of their own also where a vocabulary has it as a tag of markup. */
const markupTag = /^<\/?[a-z][a-z0-9]*>$/;

/** What opens a user's turn in a template that writes no marker of this vocabulary; undefined where it writes any. */
function plainStart({
  roleMarkers,
  turnEnds = [],
  generationPrompt,
  markers,
}: ModelFacts): string | undefined {
  const openings = roleMarkers.map(({ opening }) => opening);
  const written = [...openings, ...turnEnds, generationPrompt?.text ?? ''].join('\n');
  if (markers.some(({ text }) => !markupTag.test(text) && written.includes(text))) return undefined;
  const user = roleMarkers.find(({ role }) => role === 'user')?.opening.trim();
  return user === undefined ? undefined : JSON.stringify(user);
}

function tokensOf({ markers }: ModelFacts): ReadonlySet<string> {
  return new Set(markers.map(({ text }) => text));
}

/** The tokens of the first turn's opening; all of a prompt in which there is none. Absent if the prompt is not known. */
function placeOf({ prompts }: Exchange, facts: ModelFacts): Pick<Finding, 'tokens'> {
  const [read] = prompts;
  if (read?.known !== true || read.ids.length === 0) return {};
  if (facts.roleMarkers.length === 0) return { tokens: { start: 0, end: read.ids.length } };
  const start = firstOpening(read, facts);
  return start === undefined ? {} : { tokens: { start, end: start + openingLength(read, start, facts) } };
}

function firstOpening({ ids, text, segments }: KnownTokens, facts: ModelFacts): number | undefined {
  const places = facts.roleMarkers.map(({ opening }) => text?.indexOf(opening) ?? -1);
  const at = Math.min(...places.filter((place) => place >= 0));
  if (at === 0) return Math.min(facts.addedPrefix.chat.length, ids.length - 1);
  return segments?.findLast(({ textStart }) => textStart <= at)?.tokenStart;
}

/** As long as it is written as in front of the answer, which is the marker without the role. */
function openingLength({ ids }: KnownTokens, start: number, { generationPrompt }: ModelFacts): number {
  const opening = generationPrompt?.ids ?? [];
  const differs = opening.findIndex((id, index) => ids[start + index] !== id);
  return Math.max(1, differs < 0 ? opening.length : differs);
}
