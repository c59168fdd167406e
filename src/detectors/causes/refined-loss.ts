/**
 * Why something of a message is not in the prompt, where the request itself shows more than that it is not: whose doing it
 * is then, and what helps, is another.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { ChatRequest, Json, JsonObject } from '../../exchange/request/request.ts';
import { contentText, instructs } from '../../exchange/request/system-text.ts';
import type { LostCall } from '../../exchange/written/lost-calls.ts';
import type { LostText } from '../../exchange/written/lost-texts.ts';
import { reasoningMembers } from '../../exchange/written/prompt-parts.ts';
import type { Loss } from './loss-words.ts';

/** How many texts each message has lost, by its index. */
export type LostIn = ReadonlyMap<number, number>;

export function countedByMessage(lost: readonly LostText[]): LostIn {
  const counts = new Map<number, number>();
  for (const { message } of lost) counts.set(message, (counts.get(message) ?? 0) + 1);
  return counts;
}

/** Undefined where nothing more is to be seen than that the text is lost. */
export function refinedTextLoss(
  { sort, path, message }: LostText,
  lostIn: LostIn,
  request: ChatRequest,
): Loss | undefined {
  if (request.dialect === 'anthropic' && path.at(-2) === 'source') return 'document';
  if (sort === 'instructions' && request.messages.every(({ role }) => role !== 'user')) {
    return 'instructions-alone';
  }
  if (sort === 'instructions' && keepsOther(message, lostIn, request)) return 'earlier-instructions';
  // Where it keeps none, it does not keep only some.
  if (sort === 'later-instructions' && !keepsOther(-1, lostIn, request)) return 'text';
  return sort === 'answer' && joinsCalls(request, message) ? 'text-beside-calls' : undefined;
}

/** True if instructions that come behind this message are in the prompt. */
function keepsOther(index: number, lostIn: LostIn, { messages }: ChatRequest): boolean {
  return messages.some(
    (other, at) =>
      at > index && instructs(other) && contentText(other.value['content']).trim() !== '' && !lostIn.has(at),
  );
}

/** True for a part of a list of which another part is in the prompt. */
export function isOneOfParts(
  { path, message }: LostText,
  lostIn: LostIn,
  { messages }: ChatRequest,
): boolean {
  const one = messages[message];
  const content = one?.value['content'];
  if (one === undefined || !isArray(content) || path.length <= one.contentPath.length) return false;
  const texts = content.filter(
    (part) => isObject(part) && typeof part['text'] === 'string' && part['text'] !== '',
  );
  return (lostIn.get(message) ?? 0) < texts.length;
}

/** True for a part of a tool's result that engines hand on as a list; of other dialects they make the list, or a string. */
export function isListedResult({ path }: LostText, { dialect }: ChatRequest): boolean {
  return dialect === 'openai' && typeof path.at(-2) === 'number' && path.at(-1) === 'text';
}

/** True for the text of an answer that was sent with the reasoning before it, wherever its route has that. */
export function standsBesideReasoning({ sort, message }: LostText, request: ChatRequest): boolean {
  if (sort !== 'answer') return false;
  if (request.dialect === 'responses')
    return joined(request, message).some((item) => item['type'] === 'reasoning');
  const value = request.messages[message]?.value;
  const content = value?.['content'];
  if (request.dialect === 'anthropic')
    return isArray(content) && content.some((part) => isObject(part) && isSaid(part['thinking']));
  return reasoningMembers.some((member) => isSaid(value?.[member]));
}

function isSaid(text: Json | undefined): boolean {
  return typeof text === 'string' && text.trim() !== '';
}

/** True for an item of the assistant's that comes in one message with calls of its own. */
function joinsCalls(request: ChatRequest, index: number): boolean {
  if (request.dialect !== 'responses') return false;
  return joined(request, index).some((item) => item['type'] === 'function_call');
}

/** The assistant's items around it, of which engines make one message. */
function joined({ messages }: ChatRequest, index: number): readonly JsonObject[] {
  const isAssistant = (at: number): boolean => messages[at]?.role === 'assistant';
  let [start, end] = [index, index + 1];
  while (isAssistant(start - 1)) start -= 1;
  while (isAssistant(end)) end += 1;
  return messages.slice(start, end).map(({ value }) => value);
}

/** True for a call that is not the first of those that the assistant made together. */
export function isLaterCall({ messages }: ChatRequest, { path, message: index }: LostCall): boolean {
  const message = messages[index];
  if (message === undefined) return false;
  const within = path.slice(message.path.length);
  const [member, place] = within;
  if (member === 'tool_calls') return typeof place === 'number' && place > 0;
  const { content } = message.value;
  if (member === 'content' && typeof place === 'number' && isArray(content)) {
    return content.slice(0, place).some((part) => isObject(part) && part['type'] === 'tool_use');
  }
  return within.length === 0 && messages[index - 1]?.value['type'] === 'function_call';
}
