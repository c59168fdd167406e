/**
 * What of a request is not in its rendered prompt: the one question that both detectors, the probe of a template and the
 * doctor ask. A pure function of the request and the text; who did it, and how bad that is, is for the caller to say.
 */
import { formatPath } from '../json/json-path.ts';
import { BetweenTexts } from './between-texts.ts';
import { heldTools } from './held-tools.ts';
import { callGaps, lostCalls, type LostCall } from './lost-calls.ts';
import { isCode, lostTexts, type LostText } from './lost-texts.ts';
import { lostToolParts, type LostTool, type LostToolPart } from './lost-tools.ts';
import { placeTexts, type PlacedTexts } from './placed-texts.ts';
import { seenWriting, type ReadWriting, type SeenWriting } from './form-writing.ts';
import { readInOrder } from './in-order.ts';
import { promptParts, type MessageParts, type TextSort } from './prompt-parts.ts';
import type { ChatRequest, JsonPath } from '../request/request.ts';
import { toolParts } from './tool-parts.ts';

export interface LostParts {
  readonly texts: readonly LostText[];
  /** Texts that stand in the prompt as code: inside the list of parts that the client sent. */
  readonly asCode: readonly { readonly path: JsonPath }[];
  /** Texts that are there without a character, or a tag, that this template leaves out everywhere. */
  readonly thinned: readonly { readonly path: JsonPath; readonly sort: TextSort; readonly leftOut: string }[];
  readonly calls: readonly LostCall[];
  readonly tools: readonly LostTool[];
  /** How many tools with a name the request has. */
  readonly toolCount: number;
  readonly toolParts: readonly LostToolPart[];
}

interface Known {
  readonly rendered: string;
  readonly seen: SeenWriting;
  readonly lost: LostParts;
}

const known = new WeakMap<ChatRequest, Known>();

/** Looked for once, whoever asks. @param reading how the template was seen to write what it is given */
export function lostParts(request: ChatRequest, rendered: string, reading?: ReadWriting): LostParts {
  const seen = seenWriting(reading);
  const before = known.get(request);
  if (before?.rendered === rendered && before.seen === seen) return before.lost;
  const lost = findLostParts(request, rendered, seen);
  known.set(request, { rendered, seen, lost });
  return lost;
}

function findLostParts(request: ChatRequest, rendered: string, seen: SeenWriting): LostParts {
  const inOrder = readInOrder(request.messages, rendered, seen, hasTools(request));
  if (inOrder === undefined) return findEverywhere(request, rendered, seen);
  const { gaps, texts } = inOrder;
  const calls = lostCalls(gaps, true, rendered, seen);
  return {
    texts,
    asCode: [],
    thinned: [],
    calls,
    ...lostOfTools(
      request,
      seen,
      () => withoutLost(promptParts(request), calls),
      () => new BetweenTexts(rendered, inOrder.ranges, gaps),
    ),
  };
}

function hasTools({ tools, json }: ChatRequest): boolean {
  return tools.length > 0 || json['functions'] !== undefined;
}

/** The long way, which finds texts in whatever order and form they are. */
export function findEverywhere(request: ChatRequest, rendered: string, seen: SeenWriting): LostParts {
  const messages = promptParts(request);
  const placed = placeTexts(messages, rendered, seen);
  const gaps = callGaps(messages, placed, rendered);
  const calls = lostCalls(gaps, placed.inOrder, rendered, seen);
  return {
    texts: lostTexts(messages, placed.texts),
    asCode: codeOf(placed, rendered),
    thinned: placed.texts.flatMap(({ part: { path, sort }, leftOut }) =>
      leftOut === undefined ? [] : [{ path, sort, leftOut }],
    ),
    calls,
    ...lostOfTools(
      request,
      seen,
      () => withoutLost(messages, calls),
      () => new BetweenTexts(rendered, placed.ranges, gaps),
    ),
  };
}

function codeOf({ texts }: PlacedTexts, rendered: string): LostParts['asCode'] {
  const found: { readonly path: JsonPath }[] = [];
  for (const one of texts) if (isCode(one, rendered)) found.push({ path: one.part.path });
  return found;
}

/** A call that is not in the prompt accounts for no mention of its tool. */
function withoutLost(messages: readonly MessageParts[], lost: readonly LostCall[]): readonly MessageParts[] {
  const gone = new Set(lost.filter(({ what }) => what === 'call').map(({ path }) => formatPath(path)));
  if (gone.size === 0) return messages;
  return messages.map((one) => ({
    ...one,
    calls: one.calls.filter(({ path }) => !gone.has(formatPath(path))),
  }));
}

function lostOfTools(
  request: ChatRequest,
  seen: SeenWriting,
  messages: () => readonly MessageParts[],
  between: () => BetweenTexts,
): Pick<LostParts, 'tools' | 'toolCount' | 'toolParts'> {
  const tools = toolParts(request);
  if (tools.length === 0) return { tools: [], toolCount: 0, toolParts: [] };
  const where = between();
  const held = heldTools(tools, messages, where, seen);
  const isHeld = new Set(held.map(({ tool }) => tool));
  return {
    tools: tools.filter((tool) => !isHeld.has(tool)).map(({ path, unread }) => ({ path, unread })),
    toolCount: tools.length,
    toolParts: lostToolParts(held, where, seen),
  };
}
