/** Which tools, and which parts of tools, are not in the prompt. */
import type { BetweenTexts } from './between-texts.ts';
import { leastDescription, type HeldTool } from './held-tools.ts';
import type { FormWriting, SeenWriting } from './form-writing.ts';
import { OrderedSearch } from './ordered-search.ts';
import { jsonTexts } from './prompt-parts.ts';
import { ReadingBudget } from './reading-budget.ts';
import type { JsonPath } from '../request/request.ts';
import type { NamedPart, SchemaField, ToolParts } from './tool-parts.ts';
import { beginningOf, leastTold } from './written-forms.ts';

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

/** Beyond so much reading nothing more is said about the parts of tools; each is no more than a fact of the template. */
const mostReads = 8;
const freeCharacters = 1_000_000;

export function lostToolParts(
  tools: readonly HeldTool[],
  between: BetweenTexts,
  seen: SeenWriting,
): LostToolPart[] {
  if (tools.length === 0) return [];
  const parts = new PartSearch(between, seen);
  for (const [{ description, properties, fields, members }, block] of blocksOf(tools, between)) {
    if (description !== undefined) parts.look('tool-description', description.path, block, description);
    for (const { text, path, description: said } of properties) {
      const isThere = parts.look('property', path, block, text);
      if (isThere && said !== undefined) parts.look('property-description', said.path, block, said);
    }
    for (const member of members) parts.look('tool-member', member.path, block, member);
    for (const field of fields) parts.look(field.keyword, field.path, block, field);
    if (parts.isSpent) break;
  }
  return parts.lost;
}

/** A name, a description, or a field of a schema. */
type Sought = string | NamedPart | SchemaField;

class PartSearch {
  readonly lost: LostToolPart[] = [];
  readonly #between: BetweenTexts;
  /** Most parts are found around their tool's name. */
  #everywhere: OrderedSearch | undefined;
  readonly #inPrompt: OrderedSearch;
  readonly #budget: ReadingBudget;
  readonly #described: Readonly<Record<string, readonly FormWriting[]>>;
  readonly #values: readonly FormWriting[];

  constructor(between: BetweenTexts, seen: SeenWriting) {
    this.#described = {
      'tool-description': seen.at('tool-description'),
      'property-description': seen.at('property-description'),
    };
    this.#values = seen.at('schema-value');
    this.#between = between;
    this.#inPrompt = new OrderedSearch(between.rendered);
    this.#budget = new ReadingBudget(mostReads * between.searched().text.length + freeCharacters);
  }

  get isSpent(): boolean {
    return this.#budget.isSpent;
  }

  /** Around the tool's name, and then anywhere: a template may write all names first, or the parts of a tool apart. */
  look(what: string, path: JsonPath, block: OrderedSearch, sought: Sought): boolean {
    const writings = this.#described[what] ?? this.#values;
    if (holds(what, sought, block, writings)) return true;
    this.#everywhere ??= new OrderedSearch(this.#between.all);
    this.#budget.spend(this.#everywhere.text.length);
    if (holds(what, sought, this.#everywhere, writings, mostLines)) return true;
    // A message that says the same as a description may have been found in its place.
    const isDescription = what === 'tool-description' || what === 'property-description';
    if (isDescription && holds(what, sought, this.#inPrompt, writings, mostLines)) return true;
    this.lost.push({ what, path });
    return false;
  }
}

/** Of a description's lines, where each is looked for in all of the prompt. */
const mostLines = 4;

function holds(
  what: string,
  sought: Sought,
  search: OrderedSearch,
  writings: readonly FormWriting[],
  lines = Infinity,
): boolean {
  if (typeof sought === 'string') return search.holds(sought, writings);
  if ('text' in sought) return holdsDescription(sought.text, search, writings, lines);
  return what === 'tool-member'
    ? holdsMember(sought, search, writings)
    : holdsField(sought, search, writings);
}

/** Each tool with what stands around its name, up to the names of those before and after it. */
function blocksOf(
  tools: readonly HeldTool[],
  between: BetweenTexts,
): readonly (readonly [ToolParts, OrderedSearch])[] {
  const searched = between.searched();
  const sorted = tools.map(({ place = 0 }) => place).toSorted((a, b) => a - b);
  const order = new Map(sorted.map((place, index) => [place, index]));
  return tools.map(({ tool, place = 0 }) => {
    const at = order.get(place) ?? 0;
    const start = sorted[at - 1] ?? 0;
    const block = between.part(searched, start, sorted[at + 1] ?? searched.text.length);
    return [tool, new OrderedSearch(block, place - start)];
  });
}

/** Each line may be written by itself, and a short one may be there by chance. */
function holdsDescription(
  text: string,
  search: OrderedSearch,
  writings: readonly FormWriting[],
  lines: number,
): boolean {
  if (text.trim().length < leastDescription) return true;
  let looked = 0;
  for (let start = 0; start < text.length && looked < lines;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end);
    if (line.trim().length >= leastTold) {
      if (search.holds(beginningOf(line), writings, line.length)) return true;
      looked += 1;
    }
    start = end + 1;
  }
  return false;
}

/** By its own name, or by what it says; true also where nothing of it could be told from the rest. */
function holdsField(field: SchemaField, search: OrderedSearch, writings: readonly FormWriting[]): boolean {
  return search.holds(field.keyword, writings) || holdsMember(field, search, writings);
}

/** By what it says alone: descriptions are full of words like `return`. */
function holdsMember(
  { value }: SchemaField,
  search: OrderedSearch,
  writings: readonly FormWriting[],
): boolean {
  const texts = typeof value === 'number' ? [String(value)] : jsonTexts(value);
  const told = texts.filter((text) => text.trim().length >= leastTold && !schemaWords.has(text));
  return told.length === 0 || told.some((text) => search.holds(beginningOf(text), writings));
}

/** They stand in every schema, so that finding one shows nothing. */
const schemaWords = new Set([
  ...['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
  ...['description', 'enum', 'items', 'properties', 'required', 'title', 'type'],
]);
