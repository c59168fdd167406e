/** Which tools, and which parts of tools, are not in the prompt. */
import { OrderedSearch } from './ordered-search.ts';
import { jsonTexts, type MessageParts } from './prompt-parts.ts';
import type { JsonPath } from './request.ts';
import type { NamedPart, SchemaField, ToolParts } from './tool-parts.ts';
import {
  beginningForms,
  countName,
  holdsBeginning,
  leastTold,
  nextNamePlace,
  writtenForms,
} from './written-forms.ts';

export interface LostTool {
  readonly path: JsonPath;
  readonly unread: boolean;
}

/** A single part of a tool that is there. */
export interface LostToolPart {
  /** `tool-description`, `tool-member`, `property`, `property-description`, or a schema's keyword. */
  readonly what: string;
  readonly path: JsonPath;
}

/** Where tools are looked for. */
export interface Between {
  /** The whole prompt. */
  readonly rendered: string;
  /** All that is no text of a message. */
  readonly all: string;
  /** The same without the places where calls stand. */
  readonly withoutCalls: string;
}

/** By its name outside calls, by its description, or by more mentions than calls account for. */
export function heldTools(
  tools: readonly ToolParts[],
  messages: readonly MessageParts[],
  between: Between,
): boolean[] {
  const called = new Map<string, number>();
  for (const { name } of messages.flatMap(({ calls }) => calls))
    called.set(name, (called.get(name) ?? 0) + 1);
  const places = namePlaces(tools, between.withoutCalls);
  return tools.map(({ name, description }, index) => {
    if (places[index] !== undefined) return true;
    const said = description?.text.trim() ?? '';
    if (said.length >= leastDescription && holdsBeginning(said, between.all)) return true;
    const calls = called.get(name) ?? 0;
    return countName(between.all, name) > calls;
  });
}

/** Where each tool's name stands, looked for in the order of the tools; undefined for one that is not there. */
function namePlaces(tools: readonly ToolParts[], where: string): readonly (number | undefined)[] {
  let from = 0;
  return tools.map(({ name, description }) => {
    for (const form of writtenForms(name)) {
      const at = nextNamePlace(where, form, from);
      if (at < 0) continue;
      from = behindText(where, at + form.length, description?.text.trim() ?? '');
      return at;
    }
    return undefined;
  });
}

/** How far behind a name most templates write the tool's description. */
const descriptionReach = 256;
const headLength = 32;

/** The end of the text that follows there, so that it need not be searched; the place itself if another does. */
function behindText(where: string, at: number, text: string): number {
  const way = where.slice(at, at + descriptionReach).indexOf(text.slice(0, headLength));
  if (way < 0) return at;
  const end = at + way + text.length;
  return where.slice(at + way, end) === text ? end : at;
}

const leastDescription = 12;
/** Beyond so much reading nothing more is said about the parts of tools; each is no more than a fact of the template. */
const mostReads = 8;
const freeCharacters = 1_000_000;

export function lostToolParts(
  tools: readonly ToolParts[],
  { all: where, rendered }: Between,
): LostToolPart[] {
  const lost: LostToolPart[] = [];
  let work = 0;
  const everywhere = new OrderedSearch(where);
  const inPrompt = new OrderedSearch(rendered);
  for (const [tool, block] of blocksOf(tools, where)) {
    const look = (what: string, path: JsonPath, holds: (search: OrderedSearch) => boolean): boolean => {
      if (holds(block)) return true;
      // A template may write all names first, or the parts of a tool apart from each other.
      work += where.length;
      if (holds(everywhere)) return true;
      lost.push({ what, path });
      return false;
    };
    // A message that says the same as a description may have been found in its place.
    const isDescribed = ({ text }: NamedPart, search: OrderedSearch): boolean =>
      holdsDescription(text, search) || (search === everywhere && holdsDescription(text, inPrompt));
    const { description, properties, fields, members } = tool;
    if (description !== undefined)
      look('tool-description', description.path, (search) => isDescribed(description, search));
    for (const property of properties) {
      const forms = writtenForms(property.text);
      const isThere = look('property', property.path, (search) => search.holds(forms));
      const said = property.description;
      if (isThere && said !== undefined)
        look('property-description', said.path, (search) => isDescribed(said, search));
    }
    for (const member of members) look('tool-member', member.path, (search) => holdsMember(member, search));
    for (const field of fields) look(field.keyword, field.path, (search) => holdsField(field, search));
    if (work > mostReads * where.length + freeCharacters) break;
  }
  return lost;
}

/** Each tool with what stands around its name, up to the names of those before and after it. */
function blocksOf(
  tools: readonly ToolParts[],
  where: string,
): readonly (readonly [ToolParts, OrderedSearch])[] {
  const places = namePlaces(tools, where).map((place = 0) => place);
  const sorted = places.toSorted((a, b) => a - b);
  const order = new Map(sorted.map((place, index) => [place, index]));
  return tools.map((tool, index) => {
    const place = places[index] ?? 0;
    const at = order.get(place) ?? 0;
    const start = sorted[at - 1] ?? 0;
    return [tool, new OrderedSearch(where.slice(start, sorted[at + 1] ?? where.length), place - start)];
  });
}

/** Each line may be written by itself, and a short one may be there by chance. */
function holdsDescription(text: string, search: OrderedSearch): boolean {
  if (text.trim().length < leastDescription) return true;
  return text
    .split('\n')
    .some((line) => line.trim().length >= leastTold && search.holds(beginningForms(line), line.length));
}

/** By its own name, or by what it says; true also where nothing of it could be told from the rest. */
function holdsField(field: SchemaField, search: OrderedSearch): boolean {
  return search.holds([field.keyword]) || holdsMember(field, search);
}

/** By what it says alone: descriptions are full of words like `return`. */
function holdsMember({ value }: SchemaField, search: OrderedSearch): boolean {
  const texts = typeof value === 'number' ? [String(value)] : jsonTexts(value);
  const told = texts.filter((text) => text.trim().length >= leastTold && !schemaWords.has(text));
  return told.length === 0 || told.some((text) => search.holds(beginningForms(text)));
}

/** They stand in every schema, so that finding one shows nothing. */
const schemaWords = new Set([
  ...['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
  ...['description', 'enum', 'items', 'properties', 'required', 'title', 'type'],
]);
