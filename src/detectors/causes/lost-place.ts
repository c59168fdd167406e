/**
 * Where something would stand that a prompt has lost: between the texts before and after it. Told only where both are
 * found, and in one place alone: a place that is wrong would be worse than none.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Finding } from '../../exchange/finding.ts';
import type { ChatMessage, ChatRequest, JsonPath } from '../../exchange/request/request.ts';
import { instructs } from '../../exchange/request/system-text.ts';
import { placeOf } from '../../exchange/written/text-place.ts';
import { gapTokens } from './content-place.ts';

/** Texts on either side that are looked for: one that the template writes in another way is passed over. */
const mostNeighbours = 2;

interface Said {
  readonly text: string;
  readonly path: JsonPath;
}

interface Neighbours {
  /** The nearest first. */
  readonly texts: readonly Said[];
  /** Whether there are others, that are not looked for. */
  readonly more: boolean;
}

/** A member to spread; {} where the place can't be told. @param path of what is lost, in a message */
export function lostPlace({ request, prompts: [read] }: Exchange, path: JsonPath): Pick<Finding, 'tokens'> {
  // Media take up positions that our ids don't have.
  if (request?.kind !== 'chat' || request.hasMedia || read?.known !== true || read.text === undefined)
    return {};
  const message = request.messages.findIndex(
    (one) => within(one.path, path) || within(one.contentPath, path),
  );
  if (message < 0) return {};
  const texts = saidAround(request, message, path);
  const start = endOf(texts.before, read.text);
  const end = startOf(texts.after, read.text);
  if (start === undefined || end === undefined || start > end) return {};
  const tokens = gapTokens(read, { start, end });
  return tokens === undefined ? {} : { tokens };
}

/**
 * From the prompt's head to what opens the first turn that is no instruction, where nearly all templates write tools: whoever
 * looks there sees that there are none. {} where that turn can't be found.
 */
export function toolsPlace({ request, prompts: [read] }: Exchange): Pick<Finding, 'tokens'> {
  if (request?.kind !== 'chat' || request.hasMedia || read?.known !== true || read.text === undefined)
    return {};
  const turn = request.messages.find((message) => !instructs(message));
  const said = nearest(textsOf(turn), read.text);
  const opening = said && read.segments?.findLast(({ textStart }) => textStart <= said.at);
  return opening === undefined ? {} : { tokens: { start: 0, end: opening.tokenStart + 1 } };
}

function within(outer: JsonPath, inner: JsonPath): boolean {
  return outer.length <= inner.length && outer.every((step, at) => step === inner[at]);
}

/** The texts of contents around the lost one. Calls come behind their message's content. */
function saidAround(
  { messages }: ChatRequest,
  message: number,
  path: JsonPath,
): { readonly before: Neighbours; readonly after: Neighbours } {
  const before: Said[] = [];
  const after: Said[] = [];
  const own = messages[message];
  const isCall = path.includes('tool_calls') || path.includes('function_call');
  const lostAt =
    own === undefined || !within(own.contentPath, path) ? undefined : path[own.contentPath.length];
  for (const one of textsOf(own)) {
    const at = one.path.at(-1);
    // What is no content (reasoning, a field that nobody reads) has its place beside it, on either side.
    if (isCall) before.push(one);
    else if (typeof at === 'number' && typeof lostAt === 'number' && at !== lostAt) {
      (at < lostAt ? before : after).push(one);
    }
  }
  before.reverse();
  let first = message - 1;
  for (; first >= 0 && before.length < mostNeighbours; first -= 1) {
    for (const one of textsOf(messages[first]).toReversed()) before.push(one);
  }
  let last = message + 1;
  for (; last < messages.length && after.length < mostNeighbours; last += 1) {
    for (const one of textsOf(messages[last])) after.push(one);
  }
  return {
    before: { texts: before, more: first >= 0 || before.length > mostNeighbours },
    after: { texts: after, more: last < messages.length || after.length > mostNeighbours },
  };
}

function textsOf(message: ChatMessage | undefined): Said[] {
  if (message === undefined) return [];
  const { contentPath } = message;
  const { content } = message.value;
  const parts = isArray(content)
    ? content.map((part, at) => ({ text: isObject(part) ? part['text'] : part, path: [...contentPath, at] }))
    : [{ text: content, path: contentPath }];
  return parts.flatMap(({ text, path }) =>
    typeof text === 'string' && text.trim() !== '' ? [{ text: text.trim(), path }] : [],
  );
}

/** Behind the nearest text; the prompt's beginning if there is no other text before it; undefined if that is not found. */
function endOf({ texts, more }: Neighbours, rendered: string): number | undefined {
  const found = nearest(texts, rendered);
  return found === undefined ? (more ? undefined : 0) : found.at + found.text.length;
}

/** The beginning of the nearest text; the prompt's end if there is no other text behind it. */
function startOf({ texts, more }: Neighbours, rendered: string): number | undefined {
  return nearest(texts, rendered)?.at ?? (more ? undefined : rendered.length);
}

function nearest(
  texts: readonly Said[],
  rendered: string,
): { readonly text: string; readonly at: number } | undefined {
  for (const { text } of texts.slice(0, mostNeighbours)) {
    const at = placeOf(rendered, text);
    // A word that stands there twice is perhaps not this one.
    if (at >= 0 && placeOf(rendered, text, at + 1) < 0) return { text, at };
  }
  return undefined;
}
