/** Which tools, and which parts of tools, are not in the prompt. */
import { jsonTexts, type MessageParts } from './prompt-parts.ts';
import type { JsonPath } from './request.ts';
import type { SchemaField, ToolParts } from './tool-parts.ts';
import {
  countName,
  findForm,
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
  /** `tool-description`, `property`, `property-description`, or a schema's keyword. */
  readonly what: string;
  readonly path: JsonPath;
}

/** Where tools are looked for. */
export interface Between {
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

export function lostToolParts(tools: readonly ToolParts[], where: string): LostToolPart[] {
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
