/**
 * Finds texts, reasoning, results and calls of tools that the client sent and the rendered prompt does not hold, in whatever
 * form a template may write them. What templates leave out on purpose is told as a fact of the model.
 */
import { markedTexts } from './causes/content-texts.ts';
import { grouped, lostOf } from './causes/lost.ts';
import { lossWords, type Loss } from './causes/loss-words.ts';
import { isPlaceTooMany } from './causes/picture-places.ts';
import { isLaterCall, refinedTextLoss } from './causes/refined-loss.ts';
import { wroteIn } from './causes/tried-tools.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { LostCall } from '../exchange/written/lost-calls.ts';
import type { LostParts } from '../exchange/written/lost-parts.ts';
import type { LostText } from '../exchange/written/lost-texts.ts';
import type { TemplateReading } from '../exchange/model-facts.ts';
import { isReasoning } from '../exchange/written/prompt-parts.ts';
import type { ChatRequest, JsonPath } from '../exchange/request/request.ts';
import { instructionsOf } from '../exchange/request/system-text.ts';

export const contentLost: Detector = {
  kind: 'content-lost',
  summary: 'Something that a message says is not in the prompt.',
  stage: 'request',
  need: 'rendered',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const lost = lostOf(exchange);
    if (lost === undefined) return [];
    const { request, facts } = exchange;
    const chat = request?.kind === 'chat' ? request : undefined;
    const losses = lossesOf({ ...lost, texts: withoutPictures(lost.texts, exchange) }, chat, facts?.reading);
    const changes = chat === undefined ? [] : roleChanges(chat, facts?.reading, lost);
    const groups = grouped([...losses, ...changes], ({ loss, fact: known }) => known ?? loss);
    return groups.map(([, [first, ...others]]) => findingOf(first, others));
  },
};

/** Without those that hold a picture by now, which is told by another name. */
function withoutPictures(texts: readonly LostText[], exchange: Exchange): readonly LostText[] {
  const { request, facts, prompts } = exchange;
  const [read] = prompts;
  if (texts.length === 0 || facts?.picturePlaces === undefined || request?.kind !== 'chat') return texts;
  if (!request.hasMedia || read?.known !== true) return texts;
  const { text: rendered = '' } = read;
  const places = facts.picturePlaces.map(({ text }) => text);
  const taken = places.filter((place) => isPlaceTooMany(request, rendered, facts, place));
  const holders = markedTexts(exchange).filter(({ text }) => taken.some((place) => text.includes(place)));
  const paths = new Set(holders.map(({ path }) => formatPath(path)));
  return texts.filter(({ path }) => !paths.has(formatPath(path)));
}

interface LostHere {
  readonly loss: Loss;
  readonly path: JsonPath;
  /** The fact that it is, where it is one. */
  readonly fact?: string;
  readonly characters?: { readonly start: number; readonly end: number };
  /** What of a text is missing everywhere. */
  readonly leftOut?: string;
  /** In place of what is advised of all such losses. */
  readonly advice?: string;
}

function lossesOf(
  lost: LostParts,
  request: ChatRequest | undefined,
  reading: TemplateReading | undefined,
): LostHere[] {
  const { texts, asCode, thinned, calls } = lost;
  // Of a template that writes calls, and not this one.
  const isAmongOthers = (call: LostCall): boolean =>
    call.what === 'call' &&
    request !== undefined &&
    wroteIn(reading, call.what) &&
    isLaterCall(request, call);
  return [
    ...texts.map((text) => ({ ...lossOfText(text, request, reading), path: text.path })),
    ...asCode.map(({ path }): LostHere => ({ loss: 'as-code', path })),
    ...thinned.map(({ path, leftOut }): LostHere => ({
      loss: 'characters',
      fact: 'characters',
      path,
      leftOut: leftOut.length > 2 ? 'tags as of HTML' : JSON.stringify(leftOut),
    })),
    ...calls.map((call): LostHere => {
      const { what, path, unread } = call;
      if (unread) return { loss: 'unread-field', path };
      return { loss: isAmongOthers(call) ? 'later-call' : what, ...always(what, reading), path };
    }),
  ];
}

/** What the template was seen to leave out of any conversation is a fact of the model. */
function always(part: string, reading: TemplateReading | undefined): { readonly fact?: string } {
  return reading?.dropped.includes(part) === true ? { fact: part } : {};
}

const knownRoles: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

function lossOfText(
  text: LostText,
  request: ChatRequest | undefined,
  reading: TemplateReading | undefined,
): Omit<LostHere, 'path'> {
  const { sort, missing, alone, role, member } = text;
  const [characters] = missing ?? [];
  if (isReasoning(sort)) {
    if (!isUnread(text, reading)) return { loss: 'reasoning', fact: sort };
    const read = reading?.reasoningMembers.join(' or ') ?? '';
    return { loss: 'unread-reasoning', advice: `Send the reasoning as ${read} of the message.` };
  }
  // Beside a text that was read it may be a note of the client's own; without one the message says nothing.
  if (sort === 'unread')
    return alone ? { loss: 'unread-field' } : { loss: 'extra-field', fact: `extra-field:${member}` };
  if (!knownRoles.has(role)) return { loss: 'unknown-role' };
  if (characters !== undefined) return { loss: 'text-cut', characters };
  const refined = request && refinedTextLoss(text, request);
  if (refined === 'text-beside-calls') return { loss: refined, fact: refined };
  if (refined !== undefined) return { loss: refined };
  switch (sort) {
    case 'later-instructions':
    case 'tool-result':
      return { loss: sort, ...always(sort, reading) };
    case 'text-beside-calls':
      return { loss: sort, fact: sort };
    default:
      return { loss: 'text' };
  }
}

/** True for reasoning that would be there under another name. */
function isUnread({ sort, member }: LostText, reading: TemplateReading | undefined): boolean {
  if (reading === undefined || member === 'content' || reading.reasoningMembers.length === 0) return false;
  return !reading.reasoningMembers.includes(member) && !reading.dropped.includes(sort);
}

/** Roles that the prompt holds as others; the text of their messages is there. */
function roleChanges(
  request: ChatRequest,
  reading: TemplateReading | undefined,
  lost: LostParts,
): LostHere[] {
  if (reading?.mergesInstructions !== true && reading?.developerAsSystem !== true) return [];
  const gone = new Set(lost.texts.map(({ path }) => formatPath(path)));
  const kept = instructionsOf(request).filter(
    ({ value, contentPath }) => value['content'] !== undefined && !gone.has(formatPath(contentPath)),
  );
  const [, second] = kept;
  const developer = kept.find(({ role }) => role === 'developer');
  const isMerged = second !== undefined && reading.mergesInstructions;
  const isChanged = developer !== undefined && reading.developerAsSystem;
  return [
    ...(isMerged ? [fact('merged-instructions', second.contentPath)] : []),
    ...(isChanged ? [fact('developer-as-system', developer.contentPath)] : []),
  ];
}

function fact(loss: Loss, path: JsonPath): LostHere {
  return { loss, fact: loss, path };
}

function findingOf(
  { loss, fact: known, path, characters, leftOut, advice = lossWords[loss].advice }: LostHere,
  others: readonly LostHere[],
): Finding {
  const { severity, culprit, said } = lossWords[loss];
  const field = formatPath(path);
  const more = others.length === 0 ? '' : ` (and ${others.length} more: ${listed(others)})`;
  return {
    kind: 'content-lost',
    cause: loss,
    ...(known !== undefined && { fact: known }),
    severity,
    culprit,
    promptIndex: 0,
    field,
    ...(characters && { characters }),
    message: `${said(field + more)}${leftOut === undefined ? '' : `, such as ${leftOut}`}.`,
    advice,
  };
}

const mostListed = 3;

function listed(others: readonly LostHere[]): string {
  const names = others.slice(0, mostListed).map(({ path }) => formatPath(path));
  return `${names.join(', ')}${others.length > mostListed ? ', …' : ''}`;
}
