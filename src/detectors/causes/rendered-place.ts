/**
 * Where a changed part of the request stands in the rendered prompt, and whether a break can come from it. Positions are
 * in the rendered text: tools often stand before the system text, so the order in the body says nothing.
 */
import { isObject } from '../../exchange/json/body-reader.ts';
import type { ChatRequest, GenerationRequest, Json } from '../../exchange/request/request.ts';
import {
  contentText,
  partWithLine,
  systemParts,
  turnAt,
  type SystemPart,
} from '../../exchange/request/system-text.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';
import type { ClientChange } from './client-change.ts';

/** UTF-16 offsets into the rendered text, half open; `end` is Infinity where the part's end is not known. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** The text that the break lies in, as narrow as the segments tell it. */
export function breakRange({ segments, text }: KnownTokens, position: number): TextRange | undefined {
  if (segments === undefined || text === undefined) return undefined;
  const next = segments.findIndex(({ tokenStart }) => tokenStart > position);
  const at = next < 0 ? segments.length - 1 : next - 1;
  return {
    start: segments[at]?.textStart ?? 0,
    end: next < 0 ? text.length : (segments[next]?.textStart ?? text.length),
  };
}

/** Undefined where the part's text is not found in the rendered prompt: then nothing is said about its place. */
export function renderedPlace(
  change: ClientChange,
  request: GenerationRequest,
  rendered: string,
): TextRange | undefined {
  if (request.kind !== 'chat') return undefined;
  switch (change.part) {
    case 'system':
      return linesPlace(systemParts(request, { rendered }), change, rendered);
    case 'tools':
      return toolPlace(request.tools, change.index, rendered);
    case 'history':
      // Moved instructions leave the prompt where the turn after them is opened, behind the text of the one before.
      return turnPlace(request, change.moved === undefined ? change.index : change.index - 1, rendered);
    case 'options':
      return undefined;
  }
}

function turnPlace(request: ChatRequest, index: number, rendered: string): TextRange | undefined {
  const text = contentText(turnAt(request, index)?.value['content']).trim();
  const start = text === '' ? -1 : rendered.indexOf(text);
  // A short message may stand in the prompt several times, and then its place is not known.
  return start < 0 || rendered.lastIndexOf(text) !== start ? undefined : { start, end: Infinity };
}

/** Parts may be rendered apart or together, so each is looked for by itself. */
function linesPlace(
  parts: readonly SystemPart[],
  { index, end }: ClientChange,
  rendered: string,
): TextRange | undefined {
  const start = lineStart(parts, index, index, rendered);
  // The line before the end is in the part that the change ends in.
  const last = Math.max(end, index + 1);
  const stop = lineStart(parts, last, last - 1, rendered);
  return start === undefined || stop === undefined ? undefined : { start, end: stop };
}

/** Offset in the rendered prompt at which a line starts, or would start, if the part that holds `within` is found. */
function lineStart(
  parts: readonly SystemPart[],
  line: number,
  within: number,
  rendered: string,
): number | undefined {
  const found = partWithLine(parts, within);
  if (found === undefined) return undefined;
  const { text } = found.part;
  const trimmed = text.trim();
  const at = trimmed === '' ? -1 : rendered.indexOf(trimmed);
  if (at < 0) return undefined;
  const before = text.split('\n').slice(0, line - found.linesBefore);
  const length = before.reduce((sum, { length: characters }) => sum + characters + 1, 0);
  return at - text.indexOf(trimmed) + Math.min(text.length, length);
}

/** A removed last tool has no place of its own; what is left of the list ends there. */
function toolPlace(tools: readonly Json[], index: number, rendered: string): TextRange | undefined {
  const name = toolName(tools[Math.min(index, tools.length - 1)]);
  if (name === undefined) return undefined;
  const quoted = rendered.indexOf(JSON.stringify(name));
  const start = quoted < 0 ? rendered.indexOf(name) : quoted;
  return start < 0 ? undefined : { start, end: Infinity };
}

function toolName(tool: Json | undefined): string | undefined {
  if (!isObject(tool)) return undefined;
  const definition = isObject(tool['function']) ? tool['function'] : tool;
  return typeof definition['name'] === 'string' ? definition['name'] : undefined;
}
