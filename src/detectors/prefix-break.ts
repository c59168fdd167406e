/** Finds turns whose ids leave those of the turn that they grew from, and says where, how much is lost, and who did it. */
import { nameBreak, type NamedBreak } from './causes/break-cause.ts';
import { breakAdvice, breakEvidence } from './causes/break-words.ts';
import type { ClientChange } from './causes/client-change.ts';
import type { Detector } from './detector.ts';
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type {
  ChatRequest,
  GenerationRequest,
  Json,
  JsonObject,
  JsonPath,
} from '../exchange/request/request.ts';
import type { SessionMatch } from '../exchange/session-match.ts';
import { cutField } from './causes/cut-field.ts';
import {
  laterInstructions,
  partWithLine,
  systemParts,
  turnAt,
  type SeenPrompt,
} from '../exchange/request/system-text.ts';

export const prefixBreak: Detector = {
  kind: 'prefix-break',
  summary: "The turn's ids leave those of the turn that it grew from, so cached work is lost.",
  stage: 'request',
  need: 'session',
  severity: 'warning',
  repairs: false,
  detect({ session, request, prompts, facts }) {
    if (session?.ancestor === undefined || session.branches || request === undefined) return [];
    const { ancestor, commonTokens: position } = session;
    const lostTokens = ancestor.ids.length - position;
    if (lostTokens <= 0) return [];
    const read = prompts[0];
    const tokens = read?.known === true ? read : undefined;
    const named = nameBreak(session, ancestor, { request, tokens, facts }, position);
    const field =
      named.cause === 'salt-changed'
        ? 'cache_salt'
        : fieldOf(named, request, { rendered: tokens?.text, facts });
    const at = field === undefined ? '' : ` (${field})`;
    return [
      {
        kind: 'prefix-break',
        cause: named.cause,
        severity: named.severity,
        culprit: named.culprit,
        promptIndex: 0,
        tokens: { start: position, end: Math.min(position + 1, tokens?.ids.length ?? position + 1) },
        lostTokens,
        ...(field !== undefined && { field }),
        message: `${whatIsLost(session, ancestor.ids.length)}: ${breakEvidence(named)}${at}.`,
        advice: breakAdvice(named),
      },
    ];
  },
};

function whatIsLost({ commonTokens, saltChanged }: SessionMatch, before: number): string {
  return saltChanged === true
    ? `Nothing of the earlier turn's ${before} ids can be reused`
    : `The ids leave the earlier turn's after ${commonTokens} of its ${before}, so ${before - commonTokens} can't be reused`;
}

function fieldOf(
  { change, left, cut }: NamedBreak,
  request: GenerationRequest,
  seen: SeenPrompt,
): string | undefined {
  if (left !== undefined) return formatPath(left);
  if (cut === true) return cutField(request);
  if (change === undefined) return undefined;
  if (request.kind !== 'chat') return 'prompt';
  const path = existing(chatPath(change, request, seen) ?? [], request.json);
  return path.length > 0 ? formatPath(path) : undefined;
}

/** As much of the path as the body has: of what the client has left out, the list that it would stand in. */
function existing(path: JsonPath, json: JsonObject): JsonPath {
  let value: Json | undefined = json;
  const missing = path.findIndex((step) => {
    if (isObject(value)) value = value[step];
    else value = isArray(value) && typeof step === 'number' ? value[step] : undefined;
    return value === undefined;
  });
  return missing < 0 ? path : path.slice(0, missing);
}

function chatPath(
  { part, index, moved }: ClientChange,
  request: ChatRequest,
  seen: SeenPrompt,
): JsonPath | undefined {
  switch (part) {
    case 'tools':
      return ['tools', index];
    case 'system':
      return partWithLine(systemParts(request, seen), index)?.part.path ?? [conversation[request.dialect]];
    case 'history':
      if (moved !== undefined)
        return laterInstructions(request)[moved]?.message.path ?? turnAt(request, index)?.path;
      return turnAt(request, index)?.path ?? [conversation[request.dialect], request.messages.length];
    case 'options':
      return undefined;
  }
}

/** The field that the messages stand in. */
const conversation = { openai: 'messages', anthropic: 'messages', responses: 'input' } as const;
