/** The text that a chat request gives as instructions. Reads the request; renders and trims nothing. */
import { isArray, isObject } from '../json/body-reader.ts';
import type { ModelFacts } from '../model-facts.ts';
import type { ChatMessage, ChatRequest, Json, JsonPath } from './request.ts';

/** One message's, or one block's, share of the instructions. */
export interface SystemPart {
  readonly text: string;
  /** Where it stands in the body. */
  readonly path: JsonPath;
}

/** What is known of the prompt that was made of a request. */
export interface SeenPrompt {
  /** Its text, if the engine tells it: then what it holds is believed, and no fact. */
  readonly rendered?: string | undefined;
  readonly facts?: Pick<ModelFacts, 'unreadAttribution'> | undefined;
}

/** True for roles that instruct and don't take a turn in the conversation. */
export function instructs(message: ChatMessage): boolean {
  return message.role === 'system' || message.role === 'developer';
}

const known = new WeakMap<ChatRequest, readonly ChatMessage[]>();

/** The messages that instruct, in order; found once, whoever asks, for there may be very many others. */
export function instructionsOf(request: ChatRequest): readonly ChatMessage[] {
  const before = known.get(request);
  if (before !== undefined) return before;
  const instructions = request.messages.filter(instructs);
  known.set(request, instructions);
  return instructions;
}

/** The messages that instruct and stand behind a turn, in order, each with how many turns stand before it. */
export function laterInstructions({
  messages,
}: ChatRequest): readonly { readonly message: ChatMessage; readonly turnsBefore: number }[] {
  let turnsBefore = 0;
  return messages.flatMap((message) => {
    if (instructs(message)) return turnsBefore === 0 ? [] : [{ message, turnsBefore }];
    turnsBefore += 1;
    return [];
  });
}

/** The message with this index among those that take a turn. */
export function turnAt({ messages }: ChatRequest, index: number): ChatMessage | undefined {
  let turn = -1;
  return messages.find((message) => {
    if (!instructs(message)) turn += 1;
    return turn === index;
  });
}

/**
 * The parts of the instructions, in order; [] if there are none. Their lines count through: those of the second part
 * come after those of the first.
 * @param seen what is known of the prompt: what an engine is seen to leave out of a part is masked, or left out here too
 */
export function systemParts(
  request: ChatRequest,
  { rendered, facts }: SeenPrompt = {},
): readonly SystemPart[] {
  const unread = rendered === undefined && facts?.unreadAttribution?.includes(request.dialect) === true;
  return instructionsOf(request).flatMap(({ role, value, contentPath }) => {
    const sent = contentText(value['content']);
    const text = unread && role === 'system' ? withoutAttribution(sent) : asRendered(sent, rendered);
    return text === undefined ? [] : [{ text, path: contentPath }];
  });
}

/** The part that the line is in, and the lines before that part; the last part for a line after all. */
export function partWithLine(
  parts: readonly SystemPart[],
  line: number,
): { readonly part: SystemPart; readonly linesBefore: number } | undefined {
  let linesBefore = 0;
  for (const [index, part] of parts.entries()) {
    const lines = part.text.split('\n').length;
    if (line < linesBefore + lines || index === parts.length - 1) return { part, linesBefore };
    linesBefore += lines;
  }
  return undefined;
}

/** The line that one coding agent writes at the head of its instructions, with a hash that differs per request. */
export const attributionPrefix = 'x-anthropic-billing-header:';
const attributionHash = new RegExp(`^(${attributionPrefix}(?:(?!cch=).)*cch=).{5}(?=;)`);

/** Undefined if the text is nothing else. */
function withoutAttribution(text: string): string | undefined {
  if (!text.startsWith(attributionPrefix)) return text;
  const end = text.indexOf('\n');
  return end < 0 ? undefined : text.slice(end + 1);
}

/** Some engines blank the hash of an attribution line; then it can't have changed a prompt. */
function asRendered(text: string, rendered: string | undefined): string {
  if (rendered === undefined || !attributionHash.test(text) || rendered.includes(text.trim())) return text;
  return text.replace(attributionHash, '$1fffff');
}

/** A message's content as text: a string as it is, the text parts of a list joined by newlines, else ''. */
export function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!isArray(content)) return '';
  return content
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .filter((text) => text !== '')
    .join('\n');
}
