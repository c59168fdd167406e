/**
 * What of a request is not in its rendered prompt: the one question that both detectors, the probe of a template and the
 * doctor ask. A pure function of the request and the text; who did it, and how bad that is, is for the caller to say.
 */
import type { ChatRequest, JsonPath } from './request.ts';
import { outside, placeTexts, type PlacedText, type PlacedTexts } from './placed-texts.ts';
import {
  jsonTexts,
  promptParts,
  type CallPart,
  type MessageParts,
  type TextPart,
  type TextSort,
} from './prompt-parts.ts';
import { toolParts, type SchemaField, type ToolParts } from './tool-parts.ts';
import { countName, findForm, holdsName, nextNamePlace, writtenForms, type Found } from './written-forms.ts';

export interface LostText {
  readonly sort: TextSort;
  readonly path: JsonPath;
  readonly member: string;
  readonly role: string;
  /** Runs of the text that are not there, in UTF-16 units; absent if none of it is there. */
  readonly missing?: readonly Found[];
  /** True if nothing else of its message is there. */
  readonly alone: boolean;
}

export interface LostCall {
  readonly what: 'call' | 'call-arguments';
  readonly path: JsonPath;
  readonly unread: boolean;
}

export interface LostTool {
  readonly path: JsonPath;
  readonly unread: boolean;
}

/** A single part of a tool that is there. */
export interface LostToolPart {
  /** `tool-description`, `property`, `property-description`, or a schema's keyword. */
  readonly what: string;
  readonly path: JsonPath;
}

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

export function lostParts(request: ChatRequest, rendered: string): LostParts {
  const messages = promptParts(request);
  const placed = placeTexts(messages, rendered);
  const tools = toolParts(request);
  const gaps = callGaps(messages, placed, rendered);
  const between = betweenOf(placed, gaps, rendered);
  const isThere = heldTools(tools, messages, between);
  return {
    texts: lostTexts(messages, placed.texts),
    asCode: placed.texts.filter((one) => isCode(one, rendered)).map(({ part }) => ({ path: part.path })),
    calls: lostCalls(gaps, placed.inOrder, rendered),
    tools: tools.flatMap(({ path, unread }, index) => (isThere[index] === true ? [] : [{ path, unread }])),
    toolCount: tools.length,
    toolParts: lostToolParts(
      tools.filter((_, index) => isThere[index]),
      between.all,
    ),
  };
}

function lostTexts(messages: readonly MessageParts[], texts: readonly PlacedText[]): LostText[] {
  const kept = new Set(texts.filter(({ state }) => state !== 'lost').map(({ message }) => message));
  return texts.flatMap(({ part, message, state, missing }): LostText[] => {
    if (state !== 'lost' && state !== 'cut') return [];
    const { path, member } = part;
    const sort = isReasoning(part, missing) ? 'reasoning' : part.sort;
    const alone = !kept.has(message) && messages[message]?.calls.length === 0;
    const role = messages[message]?.role ?? '';
    const shift = part.text.length - part.text.trimStart().length;
    const runs = missing.map(({ start, end }) => ({ start: start + shift, end: end + shift }));
    return [{ sort, path, member, role, alone, ...(state === 'cut' && { missing: runs }) }];
  });
}

const closingMarker = /^\s*(?:<\/[^<>\s]{1,40}>|<\|?[^<>\s]{1,40}\|?>|\[\/?[A-Z_]{2,40}\])/;
const endsWithMarker = /(?:<\/[^<>\s]{1,40}>|<\|?[^<>\s]{1,40}\|?>|\[\/?[A-Z_]{2,40}\])\s*$/;

/** True for an answer whose beginning alone is gone, up to the marker that ends reasoning. */
function isReasoning({ sort, text }: TextPart, missing: readonly Found[]): boolean {
  if (sort !== 'answer' && sort !== 'text-beside-calls') return false;
  const given = text.trim();
  const [run, ...others] = missing.length === 0 ? [{ start: 0, end: given.length }] : missing;
  if (run?.start !== 0 || others.length > 0) return false;
  return endsWithMarker.test(given.slice(0, run.end)) || closingMarker.test(given.slice(run.end));
}

/** What stands before a part's text where a list of parts was written out in Python or JSON. */
const codeBefore = /['"]text['"]\s*:\s*['"]$/;

function isCode({ part, place }: PlacedText, rendered: string): boolean {
  if (!part.listed || place === undefined || part.sort === 'tool-result') return false;
  const before = rendered.slice(Math.max(0, place.start - 24 - part.text.length), place.start);
  return codeBefore.test(before.slice(0, before.length - leadingSpace(part.text, before)));
}

/** White space at the text's beginning is there, too. */
function leadingSpace(text: string, before: string): number {
  const space = text.slice(0, text.length - text.trimStart().length);
  return before.endsWith(space) ? space.length : 0;
}

interface Between {
  /** All that is no text of a message. */
  readonly all: string;
  /** The same without the places where calls stand. */
  readonly withoutCalls: string;
}

function betweenOf({ ranges }: PlacedTexts, gaps: readonly CallGap[], rendered: string): Between {
  const all = outside(rendered, ranges);
  if (gaps.length === 0) return { all, withoutCalls: all };
  const both = [...ranges, ...gaps].toSorted((a, b) => a.start - b.start);
  return { all, withoutCalls: outside(rendered, both) };
}

/** Where the calls of a message stand: from the texts of the messages before to those of the messages after. */
interface CallGap extends Found {
  readonly calls: readonly CallPart[];
  /** The places of the message's own texts in it. */
  readonly own: readonly Found[];
}

function callGaps(messages: readonly MessageParts[], { texts }: PlacedTexts, rendered: string): CallGap[] {
  const inTurns = texts.filter(
    ({ part, place }) =>
      place !== undefined && part.sort !== 'instructions' && part.sort !== 'later-instructions',
  );
  let at = 0;
  let start = 0;
  return messages.flatMap(({ calls }, index): CallGap[] => {
    for (let one = inTurns[at]; one !== undefined && one.message < index; one = inTurns[at]) {
      start = Math.max(start, one.place?.end ?? 0);
      at += 1;
    }
    if (calls.length === 0) return [];
    let after = at;
    while (inTurns[after]?.message === index) after += 1;
    const own = inTurns.slice(at, after).flatMap(({ place }) => place ?? []);
    return [{ start, end: Math.max(start, inTurns[after]?.place?.start ?? rendered.length), calls, own }];
  });
}

function lostCalls(gaps: readonly CallGap[], inOrder: boolean, rendered: string): LostCall[] {
  if (!inOrder) return [];
  return gaps.flatMap(({ start, end, calls, own }) => {
    const within = own.map((one) => ({ start: one.start - start, end: one.end - start }));
    const gap = outside(rendered.slice(start, end), within);
    return calls.flatMap((call): LostCall[] => {
      const held = holdsArguments(call, gap);
      if (held === true) return [];
      const isNamed = holdsName(gap, call.name);
      if (isNamed && held === undefined) return [];
      const { path, unread } = call;
      return [{ what: isNamed ? 'call-arguments' : 'call', path, unread }];
    });
  });
}

/** A shorter text may be in the markup by chance. */
const leastTold = 3;

/** Undefined where the arguments have nothing that could be told. */
function holdsArguments({ arguments: given }: CallPart, gap: string): boolean | undefined {
  const texts = jsonTexts(given).filter((text) => text.trim().length >= leastTold);
  if (texts.length === 0) return undefined;
  return texts.some((text) => holdsBeginning(text, gap));
}

const beginning = 48;

function holdsBeginning(text: string, where: string): boolean {
  return findForm(writtenForms(text.trim().slice(0, beginning)), where) !== undefined;
}

/** By its name outside calls, by its description, or by more mentions than calls account for. */
function heldTools(
  tools: readonly ToolParts[],
  messages: readonly MessageParts[],
  between: Between,
): boolean[] {
  const called = new Map<string, number>();
  for (const { name } of messages.flatMap(({ calls }) => calls))
    called.set(name, (called.get(name) ?? 0) + 1);
  let from = 0;
  return tools.map(({ name, description }) => {
    const forms = writtenForms(name);
    const at = forms
      .map((form) => nextNamePlace(between.withoutCalls, form, from))
      .find((place) => place >= 0);
    if (at !== undefined) {
      from = at;
      return true;
    }
    const said = description?.text.trim() ?? '';
    if (said.length >= leastDescription && holdsBeginning(said, between.all)) return true;
    const calls = called.get(name) ?? 0;
    return countName(between.all, name) > calls;
  });
}

const leastDescription = 12;
/** Beyond so much reading nothing more is said about the parts of tools; each is no more than a fact of the template. */
const mostReads = 8;
const freeCharacters = 1_000_000;

function lostToolParts(tools: readonly ToolParts[], where: string): LostToolPart[] {
  const lost: LostToolPart[] = [];
  let work = 0;
  for (const [tool, block] of blocksOf(tools, where)) {
    const look = (what: string, path: JsonPath, holds: (text: string) => boolean): boolean => {
      if (holds(block)) return true;
      // A template may write all names first, or the parts of a tool apart from each other.
      work += where.length;
      if (holds(where)) return true;
      lost.push({ what, path });
      return false;
    };
    const { description, properties, fields } = tool;
    if (description !== undefined)
      look('tool-description', description.path, (text) => holdsDescription(description.text, text));
    for (const property of properties) {
      const forms = writtenForms(property.text);
      const isThere = look('property', property.path, (text) => findForm(forms, text) !== undefined);
      const said = property.description;
      if (isThere && said !== undefined)
        look('property-description', said.path, (text) => holdsDescription(said.text, text));
    }
    for (const field of fields) look(field.keyword, field.path, (text) => holdsField(field, text));
    if (work > mostReads * where.length + freeCharacters) break;
  }
  return lost;
}

/** Each tool with what stands around its name, up to the names of those before and after it. */
function blocksOf(tools: readonly ToolParts[], where: string): readonly (readonly [ToolParts, string])[] {
  let from = 0;
  const places = tools.map(({ name }) => {
    from = Math.max(0, nextNamePlace(where, name, from));
    return from;
  });
  const sorted = places.toSorted((a, b) => a - b);
  const order = new Map(sorted.map((place, index) => [place, index]));
  return tools.map((tool, index) => {
    const at = order.get(places[index] ?? 0) ?? 0;
    return [tool, where.slice(sorted[at - 1] ?? 0, sorted[at + 1] ?? where.length)];
  });
}

/** Each line may be written by itself, and a short one may be there by chance. */
function holdsDescription(text: string, block: string): boolean {
  if (text.trim().length < leastDescription) return true;
  return text.split('\n').some((line) => line.trim().length >= leastTold && holdsBeginning(line, block));
}

/** By its own name, or by what it says; true also where nothing of it could be told from the rest. */
function holdsField({ keyword, value }: SchemaField, block: string): boolean {
  if (block.includes(keyword)) return true;
  const texts = typeof value === 'number' ? [String(value)] : jsonTexts(value);
  const told = texts.filter((text) => text.trim().length >= leastTold && !schemaWords.has(text));
  return told.length === 0 || told.some((text) => holdsBeginning(text, block));
}

/** They stand in every schema, so that finding one shows nothing. */
const schemaWords = new Set([
  ...['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
  ...['description', 'enum', 'items', 'properties', 'required', 'title', 'type'],
]);
