/**
 * Finds texts, reasoning, results and calls of tools that the client sent and the rendered prompt does not hold, in whatever
 * form a template may write them. What templates leave out on purpose is told as a fact of the model.
 */
import { markedTexts } from './causes/content-texts.ts';
import { lostOf } from './causes/lost.ts';
import {
  asOneString,
  lossWords,
  resultAsOneString,
  withoutReasoning,
  type Loss,
} from './causes/loss-words.ts';
import { lostPlace } from './causes/lost-place.ts';
import { isPlaceTooMany } from './causes/picture-places.ts';
import {
  countedByMessage,
  isLaterCall,
  isListedResult,
  isOneOfParts,
  refinedTextLoss,
  standsBesideReasoning,
  type LostIn,
} from './causes/refined-loss.ts';
import { sentRoles } from './causes/sent-roles.ts';
import { unwrittenNames } from './causes/speaker-names.ts';
import { wroteIn } from './causes/tried-tools.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { LostCall } from '../exchange/written/lost-calls.ts';
import type { LostParts } from '../exchange/written/lost-parts.ts';
import type { LostText } from '../exchange/written/lost-texts.ts';
import type { TemplateReading } from '../exchange/model-facts.ts';
import { isLeading, isReasoning } from '../exchange/written/prompt-parts.ts';
import { protocolRoles, type ChatRequest, type JsonPath } from '../exchange/request/request.ts';
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
    const groups = new Map<string, LossGroup>();
    const told = { ...lost, texts: withoutPictures(lost.texts, exchange) };
    noteLosses(groups, told, chat, facts?.reading);
    if (chat !== undefined) {
      noteRoleChanges(groups, chat, facts?.reading, lost);
      noteSpeakers(groups, chat, exchange);
    }
    return Array.from(groups.values(), (group) => findingOf(exchange, group));
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
  readonly fact?: string | undefined;
  readonly characters?: { readonly start: number; readonly end: number };
  /** What of a text is missing everywhere. */
  readonly leftOut?: string;
  /** In place of what is advised of all such losses. */
  readonly advice?: string;
}

/** Losses of one sort, or those that are one fact of the model. */
interface LossGroup {
  readonly first: LostHere;
  /** Places of the next ones. */
  readonly others: JsonPath[];
  count: number;
}

/** Of more only their number is told. */
const mostListed = 3;

/** A loop of tools may have lost very many that are the same. */
function note(groups: Map<string, LossGroup>, here: LostHere): void {
  const key = here.fact ?? here.loss;
  const group = groups.get(key);
  if (group === undefined) {
    groups.set(key, { first: here, others: [], count: 1 });
    return;
  }
  group.count += 1;
  if (group.others.length < mostListed) group.others.push(here.path);
}

function noteLosses(
  groups: Map<string, LossGroup>,
  { texts, asCode, thinned, calls }: LostParts,
  request: ChatRequest | undefined,
  reading: TemplateReading | undefined,
): void {
  // Of a template that writes calls, and not this one.
  const isAmongOthers = (call: LostCall): boolean =>
    call.what === 'call' &&
    request !== undefined &&
    wroteIn(reading, call.what) &&
    isLaterCall(request, call);
  const lostIn = countedByMessage(texts);
  for (const text of texts) note(groups, lossOfText(text, lostIn, request, reading));
  for (const { path } of asCode) note(groups, { loss: 'as-code', path });
  for (const { path, leftOut } of thinned) {
    const what = leftOut.length > 2 ? 'tags as of HTML' : JSON.stringify(leftOut);
    note(groups, { loss: 'characters', fact: 'characters', path, leftOut: what });
  }
  for (const call of calls) {
    const { path, unread } = call;
    // Of a template that writes no calls, a name that is there is not the call's.
    const what = reading?.dropped.includes('call') === true ? 'call' : call.what;
    if (unread) note(groups, { loss: 'unread-field', path });
    else note(groups, { loss: isAmongOthers(call) ? 'later-call' : what, fact: always(what, reading), path });
  }
}

/** What the template was seen to leave out of any conversation is a fact of the model. */
function always(part: string, reading: TemplateReading | undefined): string | undefined {
  return reading?.dropped.includes(part) === true ? part : undefined;
}

function lossOfText(
  text: LostText,
  lostIn: LostIn,
  request: ChatRequest | undefined,
  reading: TemplateReading | undefined,
): LostHere {
  const { sort, missing, alone, role, member, path } = text;
  const [characters] = missing ?? [];
  if (isReasoning(sort)) {
    if (!isUnread(text, reading)) return { loss: 'reasoning', fact: sort, path };
    const read = reading?.reasoningMembers.join(' or ') ?? '';
    return { loss: 'unread-reasoning', path, advice: `Send the reasoning as ${read} of the message.` };
  }
  // Beside a text that was read it may be a note of the client's own; without one the message says nothing.
  if (sort === 'unread')
    return alone
      ? { loss: 'unread-field', path }
      : { loss: 'extra-field', fact: `extra-field:${member}`, path };
  if (!protocolRoles.has(role)) return { loss: 'unknown-role', path };
  if (characters !== undefined) return { loss: 'text-cut', characters, path };
  const refined = request && refinedTextLoss(text, lostIn, request);
  if (refined === 'text-beside-calls') return { loss: refined, fact: refined, path };
  if (refined !== undefined) return { loss: refined, path };
  switch (sort) {
    case 'later-instructions':
      return { loss: sort, fact: always(sort, reading), path };
    case 'tool-result':
      return {
        loss: sort,
        fact: always(sort, reading),
        path,
        ...(request &&
          isListedResult(text, request) &&
          wroteIn(reading, sort) && { advice: resultAsOneString }),
      };
    case 'text-beside-calls':
      return { loss: sort, fact: sort, path };
    default:
      if (request && isOneOfParts(text, lostIn, request)) return { loss: 'text', path, advice: asOneString };
      return request && standsBesideReasoning(text, request)
        ? { loss: 'text', path, advice: withoutReasoning }
        : { loss: 'text', path };
  }
}

/** True for reasoning that would be there under another name. */
function isUnread({ sort, member }: LostText, reading: TemplateReading | undefined): boolean {
  if (reading === undefined || member === 'content' || reading.reasoningMembers.length === 0) return false;
  return !reading.reasoningMembers.includes(member) && !reading.dropped.includes(sort);
}

/** Roles that the prompt holds as others; the text of their messages is there. */
function noteRoleChanges(
  groups: Map<string, LossGroup>,
  request: ChatRequest,
  reading: TemplateReading | undefined,
  lost: LostParts,
): void {
  if (reading?.mergesInstructions !== true && reading?.developerAsSystem !== true) return;
  // A loop of tools may have lost very many other texts.
  const gone = new Set(lost.texts.filter(({ sort }) => isLeading(sort)).map(({ path }) => formatPath(path)));
  const kept = instructionsOf(request).filter(
    ({ value, contentPath }) => value['content'] !== undefined && !gone.has(formatPath(contentPath)),
  );
  const [, second] = kept;
  const developer = kept.find(({ role }) => role === 'developer');
  if (second !== undefined && reading.mergesInstructions) noteFact('merged-instructions', second.contentPath);
  if (developer !== undefined && reading.developerAsSystem)
    noteFact('developer-as-system', developer.contentPath);

  function noteFact(loss: Loss, path: JsonPath): void {
    note(groups, { loss, fact: loss, path });
  }
}

function noteSpeakers(
  groups: Map<string, LossGroup>,
  request: ChatRequest,
  { facts, prompts: [read] }: Exchange,
): void {
  if (read?.known !== true || read.text === undefined) return;
  for (const path of sentRoles(request, facts, read.text)) note(groups, { loss: 'sent-role', path });
  // That a template writes none is a fact of the model, told where it matters.
  for (const path of unwrittenNames(request, facts?.reading, read.text)) {
    note(groups, { loss: 'speaker-names', fact: 'speaker-names', path });
  }
}

function findingOf(exchange: Exchange, { first, others, count }: LossGroup): Finding {
  const { loss, fact, path, characters, leftOut, advice = lossWords[loss].advice } = first;
  const { severity, culprit, said } = lossWords[loss];
  const field = formatPath(path);
  const more = count === 1 ? '' : ` (and ${count - 1} more: ${listed(others, count - 1)})`;
  return {
    kind: 'content-lost',
    cause: loss,
    ...(fact !== undefined && { fact }),
    severity,
    culprit,
    promptIndex: 0,
    // What is by design is a fact of the model, and of the whole conversation.
    ...(severity !== 'info' && lostPlace(exchange, path)),
    field,
    ...(characters && { characters }),
    message: `${said(field + more)}${leftOut === undefined ? '' : `, such as ${leftOut}`}.`,
    advice,
  };
}

function listed(paths: readonly JsonPath[], count: number): string {
  return `${paths.map(formatPath).join(', ')}${count > paths.length ? ', …' : ''}`;
}
