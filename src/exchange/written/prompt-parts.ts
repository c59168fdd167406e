/**
 * The parts of a conversation that a model should be given: texts, reasoning and calls of tools, each with its place in the
 * body, whichever dialect it came in. Media, ids and other members that are no text are left out.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import type { ChatMessage, ChatRequest, Json, JsonPath } from '../request/request.ts';
import { attributionPrefix, instructs } from '../request/system-text.ts';
import { callsOf, type CallPart } from './call-parts.ts';

/**
 * What a text is to the conversation. `later-instructions` are those after the first; `text-beside-calls` is what an
 * assistant said in a message that calls tools; `reasoning` is of turns before the last question, `loop-reasoning` of those
 * after it; `unread` stands in a member that has no meaning in the protocol.
 */
export type TextSort =
  | 'instructions'
  | 'later-instructions'
  | 'question'
  | 'answer'
  | 'text-beside-calls'
  | 'reasoning'
  | 'loop-reasoning'
  | 'tool-result'
  | 'other-role'
  | 'unread';

export function isReasoning(sort: TextSort): boolean {
  return sort === 'reasoning' || sort === 'loop-reasoning';
}

/** Instructions may stand anywhere: some templates move them into the last question's turn. */
export function isLeading(sort: TextSort): boolean {
  return sort === 'instructions' || sort === 'later-instructions';
}

export interface TextPart {
  readonly sort: TextSort;
  readonly text: string;
  /** Characters of the string in front of the text that are not meant for the model; absent if there are none. */
  readonly skipped?: number;
  readonly path: JsonPath;
  /** The member of the message that it stands in, e.g. `content`, `reasoning_content`. */
  readonly member: string;
  /** True if it is one of several parts of a content list. */
  readonly listed: boolean;
}

export interface MessageParts {
  readonly role: string;
  readonly path: JsonPath;
  readonly texts: readonly TextPart[];
  readonly calls: readonly CallPart[];
}

/** Where in the conversation a message stands decides what its texts are to it. */
export interface Standing {
  /** Index of the last question; -1 if there is none. */
  readonly lastQuestion: number;
  /** Of the first instructions. */
  readonly firstInstructions: number;
}

export function standingIn(messages: readonly ChatMessage[]): Standing {
  return {
    lastQuestion: messages.findLastIndex(({ role }) => role === 'user'),
    firstInstructions: messages.findIndex(instructs),
  };
}

/** The parts of each message, in the order of the messages; a message without any has empty lists. */
export function promptParts({ messages }: ChatRequest): readonly MessageParts[] {
  const standing = standingIn(messages);
  return messages.map((message, index) => partsOfMessage(message, index, standing));
}

export function partsOfMessage(
  message: ChatMessage,
  index: number,
  { lastQuestion, firstInstructions }: Standing,
): MessageParts {
  const calls = callsOf(message);
  const reasoning: TextSort = index < lastQuestion ? 'reasoning' : 'loop-reasoning';
  const own = ownSort(message, index > firstInstructions, calls.length > 0);
  const texts: TextPart[] = [];
  addReasoning(texts, message, reasoning);
  addContent(texts, message, own, reasoning);
  addUnread(texts, message);
  if (instructs(message)) leaveOutAttribution(texts);
  return { role: message.role, path: message.path, texts: withoutBlank(texts), calls };
}

/** The content of a message that gives no instructions, where it is one string. */
export function plainContent({ role, contentPath }: ChatMessage, text: string, hasCalls: boolean): TextPart {
  return { sort: sortOf(role, hasCalls), text, path: contentPath, member: 'content', listed: false };
}

function withoutBlank(texts: readonly TextPart[]): readonly TextPart[] {
  for (const { text } of texts) {
    if (text.trim() === '') return texts.filter((one) => one.text.trim() !== '');
  }
  return texts;
}

/** The line by which a client names itself: some engines keep it from the model, and nothing is lost by that. */
function leaveOutAttribution(texts: TextPart[]): void {
  for (const [index, part] of texts.entries()) {
    if (!part.text.startsWith(attributionPrefix)) continue;
    const [line = ''] = part.text.split('\n', 1);
    texts[index] = { ...part, text: part.text.slice(line.length), skipped: line.length };
  }
}

function ownSort(message: ChatMessage, isLater: boolean, hasCalls: boolean): TextSort {
  if (instructs(message)) return isLater ? 'later-instructions' : 'instructions';
  return sortOf(message.role, hasCalls);
}

function sortOf(role: string, hasCalls: boolean): TextSort {
  switch (role) {
    case 'user':
      return 'question';
    case 'assistant':
      return hasCalls ? 'text-beside-calls' : 'answer';
    case 'tool':
      return 'tool-result';
    default:
      return 'other-role';
  }
}

/** The names under which engines read reasoning, each some of them. */
export const reasoningMembers = ['reasoning_content', 'reasoning', 'thinking'] as const;

export function isReasoningMember(member: string): boolean {
  return (reasoningMembers as readonly string[]).includes(member);
}

function addReasoning(texts: TextPart[], { value, path }: ChatMessage, sort: TextSort): void {
  for (const member of reasoningMembers) {
    const text = value[member];
    if (typeof text === 'string') texts.push({ sort, text, path: [...path, member], member, listed: false });
  }
}

function addContent(
  texts: TextPart[],
  { value, contentPath }: ChatMessage,
  own: TextSort,
  reasoning: TextSort,
): void {
  const { content } = value;
  if (typeof content === 'string') {
    texts.push({ sort: own, text: content, path: contentPath, member: 'content', listed: false });
  } else if (isArray(content)) {
    for (const [index, part] of content.entries()) {
      for (const text of listedTexts(part, [...contentPath, index], own, reasoning)) texts.push(text);
    }
  }
}

function listedTexts(part: Json, path: JsonPath, own: TextSort, reasoning: TextSort): TextPart[] {
  const listed = (sort: TextSort, text: Json | undefined, ...steps: JsonPath): TextPart[] =>
    typeof text === 'string'
      ? [{ sort, text, path: [...path, ...steps], member: 'content', listed: true }]
      : [];
  if (typeof part === 'string') return listed(own, part);
  if (!isObject(part)) return [];
  switch (part['type']) {
    case 'thinking':
      return listed(reasoning, part['thinking'], 'thinking');
    case 'reasoning':
    case 'reasoning_text':
      return listed(reasoning, part['text'], 'text');
    case 'tool_result': {
      const { content } = part;
      if (!isArray(content)) return listed('tool-result', content, 'content');
      return content.flatMap((one, index) =>
        listedTexts(one, [...path, 'content', index], 'tool-result', reasoning),
      );
    }
    case 'document': {
      const source = part['source'];
      const isText = isObject(source) && source['type'] === 'text';
      return isText ? listed(own, source['data'], 'source', 'data') : [];
    }
    default:
      return listed(own, part['text'], 'text');
  }
}

/** Members of messages that are read, or are no text of the conversation. */
const readMembers = new Set<string>([
  'role',
  'content',
  'tool_calls',
  'function_call',
  'name',
  'arguments',
  'input',
  'type',
  'summary',
  ...reasoningMembers,
]);

/** A name, an id, a date or a link has no white space or is short; a text for the model has both. */
const leastUnread = 16;

function addUnread(texts: TextPart[], { value, path }: ChatMessage): void {
  for (const member in value) {
    if (readMembers.has(member)) continue;
    const text = value[member];
    if (typeof text === 'string' && isUnreadText(text))
      texts.push({ sort: 'unread', text, path: [...path, member], member, listed: false });
  }
}

/** True for what may be meant for the model, in a member that nobody reads. */
export function isUnreadText(text: string): boolean {
  const given = text.trim();
  return given.length >= leastUnread && /\s/.test(given) && Number.isNaN(Date.parse(text));
}

/** Texts and keys of a JSON value that a model is given in one form or another; numbers and flags are too short to tell. */
export function jsonTexts(value: Json): string[] {
  const texts: string[] = [];
  const open: Json[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one === 'string') texts.push(one);
    else if (isArray(one)) for (const item of one.toReversed()) open.push(item);
    else if (isObject(one)) {
      for (const [key, member] of Object.entries<Json>(one).toReversed()) {
        open.push(member);
        texts.push(key);
      }
    }
  }
  return texts;
}
