/** What a prompt ends with: the question for every kind that is about how an answer is opened. Judges nobody. */
import type { Finding } from '../../exchange/finding.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { ChatRequest } from '../../exchange/request/request.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';

/** Where a prompt ends; nothing for one without tokens. */
export function lastToken({ ids: { length } }: KnownTokens): Pick<Finding, 'tokens'> {
  return length === 0 ? {} : { tokens: { start: length - 1, end: length } };
}

/** True if the ids end with the learnt generation prompt, with or without the tail that stands for no thinking. */
export function opensAnswer({ ids }: KnownTokens, { generationPrompt, thinkTail }: ModelFacts): boolean {
  if (generationPrompt === undefined) return false;
  const tail = generationPrompt.ids;
  return endsWith(ids, tail) || (thinkTail !== undefined && endsWith(ids, [...tail, ...thinkTail.ids]));
}

/**
 * True also if an answer is opened in another way than was learnt, as arguments of the template can have it, and where it
 * can't be told.
 */
export function answersAreOpened(
  { ids, text }: KnownTokens,
  request: ChatRequest,
  facts: ModelFacts,
): boolean {
  const starts = answerStarts(facts);
  if (starts.length === 0 || templateArguments.some((name) => isSet(request, name))) return true;
  if (text !== undefined) return isOpen(text, starts, facts);
  const tail = facts.generationPrompt?.ids ?? [];
  if (tail.length === 0 || isSet(request, 'tools')) return true;
  const window = ids.subarray(-endTokens);
  return window.some((_id, start) => tail.every((id, index) => window[start + index] === id));
}

/**
 * False for a prompt that is no writing of the learnt template: a trace can be of another server, whose form of turns says
 * nothing of how this one opens answers. Told by the marker that opens questions, where one does.
 */
export function hasFormOf({ ids, text }: KnownTokens, { roleMarkers, markers }: ModelFacts): boolean {
  const opening = roleMarkers.find(({ role }) => role === 'user')?.opening ?? '';
  const opens = markers.filter((marker) => opening.includes(marker.text));
  if (opens.length === 0) return true;
  return opens.some((marker) => (text === undefined ? ids.includes(marker.id) : text.includes(marker.text)));
}

/** With any of these a template may open answers in a way of its own: published ones do. */
const templateArguments = ['chat_template', 'chat_template_kwargs', 'reasoning_effort'] as const;
const endTokens = 64;

function isSet({ json }: ChatRequest, field: string): boolean {
  return (json[field] ?? null) !== null;
}

/** Longer texts fit into no usual context. */
const mostCharacters = 1024 * 1024;

/** True for a raw text that is a rendered conversation whose last turn is the user's, and is over. */
export function rendersQuestion(text: string, facts: ModelFacts): boolean {
  if (text.length > mostCharacters) return false;
  const user = facts.roleMarkers.find(({ role }) => role === 'user')?.opening.trim() ?? '';
  const at = facts.markers.some((marker) => user.includes(marker.text)) ? text.lastIndexOf(user) : -1;
  const end = text.trimEnd();
  const isOver = (facts.turnEnds ?? []).some(
    (turnEnd) => turnEnd.trim() !== '' && end.endsWith(turnEnd.trim()),
  );
  return at >= 0 && isOver && !answerStarts(facts).some((start) => text.includes(start, at));
}

/** True if behind one of the starts no turn ends, and none of another role begins. */
function isOpen(
  text: string,
  starts: readonly string[],
  { roleMarkers, turnEnds = [] }: ModelFacts,
): boolean {
  const others = roleMarkers.filter(({ role }) => role !== 'assistant').map(({ opening }) => opening.trim());
  const stops = [...others, ...turnEnds].filter((stop) => stop.trim() !== '');
  return starts.some((start) => {
    const at = text.lastIndexOf(start);
    return at >= 0 && !stops.some((stop) => text.includes(stop, at + start.length));
  });
}

/** What an answer may open with: as learnt, and as in the history. Only what is no other role's too, and no plain words. */
function answerStarts({ generationPrompt, roleMarkers, markers }: ModelFacts): string[] {
  const learnt = generationPrompt?.text.trimEnd() ?? '';
  const history = roleMarkers.find(({ role }) => role === 'assistant')?.opening.trim() ?? '';
  const others = roleMarkers.filter(({ role }) => role !== 'assistant').map(({ opening }) => opening);
  return [learnt, learnt.split('\n', 1)[0] ?? '', history].filter(
    (start) =>
      markers.some(({ text }) => start.includes(text)) && !others.some((opening) => opening.includes(start)),
  );
}

function endsWith(ids: Uint32Array, tail: readonly number[]): boolean {
  const start = ids.length - tail.length;
  return start >= 0 && tail.every((id, index) => ids[start + index] === id);
}
