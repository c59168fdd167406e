/**
 * What of a request is not in its rendered prompt: the one question that both detectors, the probe of a template and the
 * doctor ask. A pure function of the request and the text; who did it, and how bad that is, is for the caller to say.
 */
import { heldTools, type Between } from './held-tools.ts';
import { callGaps, lostCalls, type CallGap, type LostCall } from './lost-calls.ts';
import { isCode, lostTexts, type LostText } from './lost-texts.ts';
import { lostToolParts, type LostTool, type LostToolPart } from './lost-tools.ts';
import { outside, placeTexts, type PlacedTexts } from './placed-texts.ts';
import { plainTexts } from './plain-texts.ts';
import { promptParts, type MessageParts } from './prompt-parts.ts';
import type { ChatRequest, JsonPath } from '../request/request.ts';
import { toolParts } from './tool-parts.ts';

export interface LostParts {
  readonly texts: readonly LostText[];
  /** Texts that stand in the prompt as code: inside the list of parts that the client sent. */
  readonly asCode: readonly { readonly path: JsonPath }[];
  readonly calls: readonly LostCall[];
  readonly tools: readonly LostTool[];
  /** How many tools with a name the request has. */
  readonly toolCount: number;
  readonly toolParts: readonly LostToolPart[];
}

const known = new WeakMap<ChatRequest, { readonly rendered: string; readonly lost: LostParts }>();

/** Looked for once, whoever asks. */
export function lostParts(request: ChatRequest, rendered: string): LostParts {
  const before = known.get(request);
  if (before?.rendered === rendered) return before.lost;
  const lost = findLostParts(request, rendered);
  known.set(request, { rendered, lost });
  return lost;
}

function findLostParts(request: ChatRequest, rendered: string): LostParts {
  const plain = plainTexts(request.messages, rendered);
  if (plain !== undefined) {
    return { ...nothing, ...lostOfTools(request, [], () => betweenOf(plain, [], rendered)) };
  }
  const messages = promptParts(request);
  const placed = placeTexts(messages, rendered);
  const gaps = callGaps(messages, placed, rendered);
  return {
    texts: lostTexts(messages, placed.texts),
    asCode: placed.texts.filter((one) => isCode(one, rendered)).map(({ part }) => ({ path: part.path })),
    calls: lostCalls(gaps, placed.inOrder, rendered),
    ...lostOfTools(request, messages, () => betweenOf(placed.ranges, gaps, rendered)),
  };
}

const nothing = { texts: [], asCode: [], calls: [] } as const;

function lostOfTools(
  request: ChatRequest,
  messages: readonly MessageParts[],
  between: () => Between,
): Pick<LostParts, 'tools' | 'toolCount' | 'toolParts'> {
  const tools = toolParts(request);
  if (tools.length === 0) return { tools: [], toolCount: 0, toolParts: [] };
  const where = between();
  const held = heldTools(tools, messages, where);
  const isHeld = new Set(held.map(({ tool }) => tool));
  return {
    tools: tools.filter((tool) => !isHeld.has(tool)).map(({ path, unread }) => ({ path, unread })),
    toolCount: tools.length,
    toolParts: lostToolParts(held, where),
  };
}

function betweenOf(ranges: PlacedTexts['ranges'], gaps: readonly CallGap[], rendered: string): Between {
  const all = outside(rendered, ranges);
  if (gaps.length === 0) return { rendered, all, withoutCalls: all };
  const both = [...ranges, ...gaps].toSorted((a, b) => a.start - b.start);
  return { rendered, all, withoutCalls: outside(rendered, both) };
}
