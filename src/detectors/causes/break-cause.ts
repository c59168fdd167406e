/** Names the cause of a prefix break: the prompt's own tail, a change of the client's, or neither. */
import type { BreakCause, Culprit, Severity } from '../../exchange/finding.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { GenerationRequest, JsonPath } from '../../exchange/request/request.ts';
import type { SessionMatch, Turn } from '../../exchange/session-match.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';
import { clientChanges, type ClientChange } from './client-change.ts';
import { droppedReasoning, dropsEmptyThink } from './dropped-reasoning.ts';
import { breakRange, renderedPlace } from './rendered-place.ts';

export interface NamedBreak {
  readonly cause: BreakCause;
  readonly severity: Severity;
  readonly culprit: Culprit;
  /** The client's change that the break comes from; absent where it is not the client's. */
  readonly change?: ClientChange;
  /** True if the changed message is the same but for its reasoning, which the client has left out. */
  readonly leftReasoning?: true;
  /** True if what the template left out is a think block without reasoning. */
  readonly emptyThink?: true;
  /** True if a prompt is left only in part, because its request asks for that. */
  readonly cut?: true;
  /** The part of the request that the template left out; absent where it did not. */
  readonly left?: JsonPath;
}

/** The prompt that leaves its ancestor. */
export interface BrokenPrompt {
  readonly request: GenerationRequest;
  readonly tokens: KnownTokens | undefined;
  readonly facts: ModelFacts | undefined;
}

/** Ids at the end of a text that ordinary tokenization may join with what follows it. */
const joinableIds = 4;

/** @param position index of the first id that differs from the ancestor's. */
export function nameBreak(
  match: SessionMatch,
  ancestor: Turn,
  { request, tokens, facts }: BrokenPrompt,
  position: number,
): NamedBreak {
  const reading = facts?.reading;
  if (match.saltChanged === true) return { cause: 'salt-changed', severity: 'warning', culprit: 'client' };
  if (tokens?.cut !== undefined || ancestor.cut === true) {
    return { cause: 'history-truncated', severity: 'info', culprit: 'client', cut: true };
  }
  const index = leftOutReply(match, ancestor, position);
  if (index !== undefined) {
    const change: ClientChange = { part: 'history', cause: 'history-truncated', index, end: index + 1 };
    return { cause: change.cause, severity: 'info', culprit: 'client', change };
  }
  const inTail = tailCause(ancestor, position);
  if (inTail !== undefined) return { cause: inTail, severity: 'info', culprit: 'template' };
  const dropped = tokens && droppedReasoning(match, ancestor, request, tokens, position, reading);
  if (dropped !== undefined) {
    const { isEarlier, path } = dropped;
    const isMeant = isEarlier && (reading === undefined || reading.dropped.includes('reasoning'));
    const severity = isMeant ? 'info' : 'warning';
    return { cause: 'reasoning-dropped', severity, culprit: 'template', left: path };
  }
  const changes =
    ancestor.digest && match.digest ? clientChanges(ancestor.digest, match.digest, match.commonMessages) : [];
  const change = changeAt(changes, request, tokens, position);
  if (change !== undefined) {
    const inReasoning = differsInReasoning(change, match, ancestor);
    // What a template that leaves out the reasoning before the last question would have done itself.
    const isEarlier = change.index < (match.digest?.roles.lastIndexOf('user') ?? 0);
    if (inReasoning && isEarlier && reading?.dropped.includes('reasoning') === true) {
      return { cause: 'reasoning-dropped', severity: 'info', culprit: 'template', change };
    }
    const isMeant = change.cause === 'tools-changed' || movesFromEnd(change, ancestor);
    const leftReasoning = inReasoning && match.digest?.messages[change.index]?.spoken === undefined;
    return {
      cause: change.cause,
      severity: isMeant ? 'info' : 'warning',
      culprit: 'client',
      change,
      ...(leftReasoning && { leftReasoning }),
    };
  }
  if (changes.length === 0 && dropsEmptyThink(match, ancestor, facts, position)) {
    return { cause: 'reasoning-dropped', severity: 'info', culprit: 'template', emptyThink: true };
  }
  if (changes.length === 0 && ancestor.ids.length - position <= joinableIds) {
    return { cause: 'retokenised', severity: 'info', culprit: 'template' };
  }
  return { cause: 'unknown', severity: 'warning', culprit: request.kind === 'chat' ? 'template' : 'client' };
}

/**
 * Where in the history another's message stands in place of the reply, if that is where the ids part: at the ancestor's
 * end, or at the end of its last turn, where a template joins two of one role. Undefined if the reply came back.
 */
function leftOutReply(
  { digest, commonMessages }: SessionMatch,
  { ids, tail, digest: earlier }: Turn,
  position: number,
): number | undefined {
  if (earlier?.messages.length !== commonMessages) return undefined;
  const next = digest?.roles[commonMessages];
  const atEnd = position >= ids.length - tail.think - tail.generationPrompt - joinableIds;
  return atEnd && (next === 'user' || next === 'tool') ? commonMessages : undefined;
}

/** True if the changed message differs in nothing but its reasoning. */
function differsInReasoning(
  { part, index, moved }: ClientChange,
  { digest }: SessionMatch,
  ancestor: Turn,
): boolean {
  const before = ancestor.digest?.messages[index];
  const now = digest?.messages[index];
  if (part !== 'history' || moved !== undefined || before?.spoken === undefined || now === undefined)
    return false;
  return before.spoken === (now.spoken ?? now.value);
}

/** True for a note that is always the last of all, behind the newest message: it costs nothing but itself. */
function movesFromEnd({ moved, index }: ClientChange, { digest }: Turn): boolean {
  return moved !== undefined && index === digest?.messages.length;
}

function tailCause({ ids, tail }: Turn, position: number): BreakCause | undefined {
  if (position >= ids.length - tail.think) return 'empty-think-tail';
  return position >= ids.length - tail.think - tail.generationPrompt ? 'retokenised' : undefined;
}

/**
 * The change whose text is rendered first, for it makes the first difference. One that stands wholly before or wholly
 * after the break's segment did not show where the ids part; one whose text is not found is believed last.
 */
function changeAt(
  changes: readonly ClientChange[],
  request: GenerationRequest,
  tokens: KnownTokens | undefined,
  position: number,
): ClientChange | undefined {
  const text = tokens?.text;
  if (tokens === undefined || text === undefined) return changes[0];
  const range = breakRange(tokens, position);
  let first: { readonly change: ClientChange; readonly start: number } | undefined;
  for (const change of changes) {
    const place = renderedPlace(change, request, text);
    if (place !== undefined && range !== undefined && (place.start >= range.end || place.end < range.start)) {
      continue;
    }
    const start = place?.start ?? Infinity;
    if (first === undefined || start < first.start) first = { change, start };
  }
  return first?.change;
}
