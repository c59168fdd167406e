/**
 * What becomes of a client's attribution line: it stays, the line that the conversation began with stands in its place,
 * or it goes. Plans byte edits and says what they do to the places of other fields; makes and proves nothing.
 */
import { attributionLineOf, locateAttribution } from '../exchange/request/attribution-line.ts';
import type { Edit } from '../exchange/edits.ts';
import type { Finding } from '../exchange/finding.ts';
import { locateListItem, locateStringPrefix } from '../exchange/json/json-offsets.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ChatRequest, JsonPath } from '../exchange/request/request.ts';
import type { Turn } from '../exchange/session-match.ts';

/** `keep`: as the client wrote it. `freeze`: as in the conversation's first request. `cut`: not at all. */
export type AttributionRule = 'keep' | 'freeze' | 'cut';

export interface AttributionPlan {
  readonly way: 'freeze' | 'cut';
  readonly edit: Edit;
  /** Bytes of the longer of the two lines, line end included: no text has more tokens than bytes. */
  readonly mostTokens: number;
  /** The block that goes with the line; absent if the rest of its text stays. */
  readonly removedItem?: JsonPath;
}

/**
 * A conversation keeps what it began with, whatever the rule says meanwhile: to cut a line out of its middle would break
 * the very prefix that the rule is to keep.
 * @returns undefined where there is nothing to change, or no exact way to
 */
export function planAttribution(
  request: ChatRequest,
  rule: AttributionRule,
  ancestor: Pick<Turn, 'attributionLine' | 'sent'> | undefined,
): AttributionPlan | undefined {
  if (rule === 'keep') return undefined;
  const frozen = ancestor?.attributionLine;
  if (frozen !== undefined) return planFreeze(request, frozen);
  return rule === 'cut' || ancestor?.sent !== undefined ? planCut(request) : undefined;
}

/** @param frozen the line's bytes as they stood in the other body */
function planFreeze(request: ChatRequest, frozen: string): AttributionPlan | undefined {
  const line = attributionLineOf(request);
  const range = line && locateAttribution(request.body, line);
  if (range === undefined || request.body.toString('utf8', range.start, range.end) === frozen)
    return undefined;
  const mostTokens = Math.max(range.end - range.start, Buffer.byteLength(frozen)) + 1;
  return { way: 'freeze', edit: { ...range, replacement: frozen }, mostTokens };
}

/** With its line end; or, where it stands alone in a block among others, with the block. */
function planCut(request: ChatRequest): AttributionPlan | undefined {
  const { body } = request;
  const line = attributionLineOf(request);
  if (line === undefined) return undefined;
  const mostTokens = Buffer.byteLength(line.text) + 1;
  if (!line.alone) {
    const range = locateStringPrefix(body, line.path, `${line.text}\n`);
    return range && { way: 'cut', edit: { ...range, replacement: '' }, mostTokens };
  }
  const block = line.path.slice(0, -1);
  const isBlock = typeof block.at(-1) === 'number' && line.path.at(-1) === 'text';
  const range = isBlock ? locateListItem(body, block) : undefined;
  return range && { way: 'cut', edit: { ...range, replacement: '' }, mostTokens, removedItem: block };
}

/** The finding with its field as the client's own body has it, where a block before it was taken out of what was read. */
export function placedAsSent(finding: Finding, removedItem: JsonPath | undefined): Finding {
  const { field, message } = finding;
  const sent = field === undefined || removedItem === undefined ? field : fieldAsSent(field, removedItem);
  if (field === undefined || sent === undefined || sent === field) return finding;
  return { ...finding, field: sent, message: message.replaceAll(field, sent) };
}

function fieldAsSent(field: string, removedItem: JsonPath): string {
  const removed = removedItem.at(-1);
  const list = `${formatPath(removedItem.slice(0, -1))}[`;
  const index = field.startsWith(list) ? Number.parseInt(field.slice(list.length), 10) : Number.NaN;
  if (typeof removed !== 'number' || !(index >= removed)) return field;
  return `${list}${index + 1}${field.slice(list.length + String(index).length)}`;
}
