/**
 * Finds fields that should change what the model is given and that the engine reads over. The adapter says which fields
 * those may be; what is reported shows in this request's own prompt, or it is not reported.
 */
import { counted } from '../exchange/counted.ts';
import { leadingBos } from './causes/bos-source.ts';
import { opensAnswer } from './causes/prompt-end.ts';
import { unreadArguments } from './causes/unread-arguments.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { fingerprint } from '../exchange/fingerprint.ts';
import type { Finding } from '../exchange/finding.ts';
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { IgnoredEffect, ModelFacts } from '../exchange/model-facts.ts';
import type { GenerationRequest, Json, JsonObject } from '../exchange/request/request.ts';
import type { KnownTokens } from '../exchange/token-read.ts';
import { holdsSent } from '../exchange/written/text-place.ts';

export const parameterIgnored: Detector = {
  kind: 'parameter-ignored',
  summary: 'The request sets a field that should change what the model is given, and this engine ignores it.',
  stage: 'request',
  need: 'ids',
  severity: 'warning',
  repairs: false,
  detect(exchange) {
    return [...readOver(exchange), ...unread(exchange)];
  },
};

/** What no template gets. */
function readOver({ route, request, facts, prompts }: Exchange): Finding[] {
  if (request === undefined || facts === undefined) return [];
  return (facts.ignoredFields ?? []).flatMap((field) => {
    const value = field.routes.includes(route.kind) ? valueAt(request.json, field.path) : undefined;
    if (value === undefined) return [];
    for (const [promptIndex, read] of prompts.entries()) {
      const evidence = read.known
        ? evidenceFor(field.effect, value, { request, facts, read, promptIndex })
        : undefined;
      if (evidence === undefined) continue;
      const path = formatPath(field.path);
      return [
        {
          kind: 'parameter-ignored',
          cause: field.name,
          // What each such request loses is its own; the rest is a fact of the engine.
          ...(field.effect !== 'text' && { fact: field.name }),
          severity: 'warning',
          culprit: 'client',
          promptIndex,
          field: path,
          message:
            field.by === 'template'
              ? `The template does not write ${path}: ${evidence}.`
              : `The engine ignores ${path}: ${evidence}.`,
          advice: field.instead,
        },
      ];
    }
    return [];
  });
}

/** What the template gets, and does nothing with. */
function unread({ request, facts, prompts: [read] }: Exchange): Finding[] {
  if (request?.kind !== 'chat' || read?.known !== true) return [];
  return unreadArguments(request.json, facts?.templateInputs, (value) => isLeftOut(value, read));
}

interface Prompt {
  readonly request: GenerationRequest;
  readonly facts: ModelFacts;
  readonly read: KnownTokens;
  readonly promptIndex: number;
}

/** Half a sentence that shows that the field had no effect; undefined if it had, or asked for nothing. */
function evidenceFor(effect: IgnoredEffect, value: Json, prompt: Prompt): string | undefined {
  const { read, facts } = prompt;
  switch (effect) {
    case 'bos':
      return value === false ? bosAllTheSame(prompt) : undefined;
    case 'text':
      return isLeftOut(value, read) ? 'nothing of it is in the prompt' : undefined;
    case 'template':
      return typeof value === 'string' ? otherTemplate(value, prompt) : undefined;
    case 'thinking-off':
      return isOff(value) ? thinkingAllTheSame(prompt) : undefined;
    case 'context':
      return typeof value === 'number' && facts.contextTokens > 0 && value > facts.contextTokens
        ? `it asks for ${value} tokens and there are ${facts.contextTokens}`
        : undefined;
    case 'length':
      return typeof value === 'number' && value > 0 && read.ids.length > value
        ? `it asks for at most ${counted(value, 'token')} and the prompt has ${read.ids.length}`
        : undefined;
    case 'reply':
      return value === true ? 'replies hold what is generated, and nothing else' : undefined;
  }
}

/** Of ids nothing is shown; of a text that brings BOS along only where there is one more than it brings. */
function bosAllTheSame({
  request,
  facts: { bos, addedPrefix },
  read,
  promptIndex,
}: Prompt): string | undefined {
  const prompt = request.kind === 'completion' ? request.prompts[promptIndex] : undefined;
  if (bos === undefined || prompt?.form !== 'text' || !addedPrefix.completion.includes(bos.id))
    return undefined;
  const copies = leadingBos(read.ids, bos);
  return copies > 0 && !prompt.text.startsWith(bos.text.repeat(copies))
    ? `the prompt starts with a BOS (${bos.text}, id ${bos.id}) that the text does not hold`
    : undefined;
}

/** Not of the served template itself. Where no answer is opened nothing shows which template made the prompt. */
function otherTemplate(template: string, { facts, read }: Prompt): string | undefined {
  const { generationPrompt, templateHash } = facts;
  if (generationPrompt === undefined || template.trim() === '' || fingerprint(template) === templateHash)
    return undefined;
  return opensAnswer(read, facts)
    ? `the prompt opens the answer as the engine's own template does (${JSON.stringify(generationPrompt.text)})`
    : undefined;
}

/** True if the value holds texts and the prompt none of them, neither as they are nor as JSON writes them. */
function isLeftOut(value: Json, { text, cut }: KnownTokens): boolean {
  const texts = textsIn(value);
  // What was cut away may have held them.
  if (text === undefined || cut !== undefined || texts.length === 0) return false;
  return !texts.some((one) => holdsSent(text, one));
}

/** A shorter one, as a title may be, stands in any prompt. */
const leastTold = 4;

/** Those that tell the value from others: short ones only where there are no longer ones. */
function textsIn(value: Json): readonly string[] {
  const texts = allTextsIn(value);
  const told = texts.filter((text) => text.length >= leastTold);
  return told.length === 0 ? texts : told;
}

function allTextsIn(value: Json): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()];
  if (isArray(value)) return value.flatMap(allTextsIn);
  if (!isObject(value)) return [];
  // What sort of part it is says the client alone.
  return Object.entries<Json>(value).flatMap(([name, member]) => (name === 'type' ? [] : allTextsIn(member)));
}

function isOff(value: Json): boolean {
  return value === false || (isObject(value) && (value['type'] === 'disabled' || value['enabled'] === false));
}

/** Shown only where the template has a way to switch thinking off, and the prompt ends as with thinking on. */
function thinkingAllTheSame({ facts: { thinkTail, ...facts }, read }: Prompt): string | undefined {
  if (thinkTail === undefined || !opensAnswer(read, facts)) return undefined;
  return `the prompt lacks what the template writes with thinking off (${JSON.stringify(thinkTail.text)})`;
}

function valueAt(json: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = json;
  for (const step of path) value = isObject(value) ? value[step] : undefined;
  return value ?? undefined;
}
