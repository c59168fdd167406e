/**
 * Which tools a prompt holds, and where it names them. What is not where the order of the tools lets expect it is looked for
 * in one pass for all, so that a thousand tools that no template writes cost little more than one.
 */
import type { BetweenTexts, Searched } from './between-texts.ts';
import { unseen, type FormWriting, type SeenWriting } from './form-writing.ts';
import { eachPlace } from './many-places.ts';
import { namePlace, standsAlone } from './name-place.ts';
import type { MessageParts } from './prompt-parts.ts';
import { ReadingBudget } from './reading-budget.ts';
import { standsAt } from './text-place.ts';
import type { ToolParts } from './tool-parts.ts';
import { bySign, eachWord, isSigned } from './word-places.ts';
import { beginningOf, longestPlainRun, writtenForms } from './written-forms.ts';

export interface HeldTool {
  readonly tool: ToolParts;
  /** In what was searched; absent where its name is not there. */
  readonly place?: number;
}

/** A shorter one may be there by chance. */
export const leastDescription = 12;
/** Looking for what is missing reads so many times the prompt at most, and a short one a little more often. */
const mostReads = 16;
const freeCharacters = 1_000_000;

/**
 * Those that are there by their name outside calls, by their description, or by more mentions than calls account for.
 * Where the search had to end early, those that it has not found count as there: they are not known to be missing.
 */
export function heldTools(
  tools: readonly ToolParts[],
  messages: () => readonly MessageParts[],
  between: BetweenTexts,
  seen: SeenWriting = unseen,
): HeldTool[] {
  const searched = between.searched();
  const budget = new ReadingBudget(mostReads * searched.text.length + freeCharacters);
  const outside = namePlaces(tools, between.searchedWithoutCalls(), budget);
  const missing = tools.filter((_, index) => outside[index] === undefined);
  const writings = seen.at('tool-description');
  const some = missing.length === tools.length ? evenlyOf(missing) : missing;
  const found = describedIn(searched, some, budget, writings);
  const described =
    some.length === missing.length || found.size === 0
      ? found
      : describedIn(searched, missing, budget, writings);
  const { hasCalls } = between;
  const mentioned = hasCalls ? mentionedIn(searched, missing, messages, budget) : new Set<ToolParts>();
  const places = hasCalls ? namePlaces(tools, searched, budget) : outside;
  return tools.flatMap((tool, index): HeldTool[] => {
    const place = places[index];
    const isThere =
      outside[index] !== undefined || described.has(tool) || mentioned.has(tool) || budget.isSpent;
    return isThere ? [{ tool, ...(place !== undefined && { place }) }] : [];
  });
}

/** Where a prompt names no tool and describes none of so many, it describes no other. */
const mostSampled = 128;

/** Some of many, from the first to the last. */
function evenlyOf(tools: readonly ToolParts[]): readonly ToolParts[] {
  if (tools.length <= mostSampled) return tools;
  const last = tools.length - 1;
  const places = Array.from({ length: mostSampled }, (_, index) =>
    Math.round((index * last) / (mostSampled - 1)),
  );
  return places.flatMap((place) => tools[place] ?? []);
}

/** How far behind the tool before it the next one's name is expected. */
const reach = 8192;
/** Names that are looked for by themselves where they are not near, of those that no sign tells. */
const mostFar = 2;
/** Beyond so many that are not near, the rest is not expected there. */
const mostLate = 16;

/** Where each tool's name stands; undefined for one that is not there, or was not found before the budget ended. */
function namePlaces(
  tools: readonly ToolParts[],
  where: Searched,
  budget: ReadingBudget,
): readonly (number | undefined)[] {
  const { text } = where;
  const places = new Array<number | undefined>(tools.length);
  const late = new Map<string, number[]>();
  let from = 0;
  let far = 0;
  for (const [index, { name, description }] of tools.entries()) {
    let at = late.size < mostLate ? namePlace(text, name, from, from + reach) : -1;
    if (at < 0 && !isSigned(name) && far < mostFar) {
      far += 1;
      at = namePlace(text, name, from);
      if (at < 0) at = namePlace(text, name, 0, from + name.length);
      // One that is nowhere is most likely not the only one.
      if (at < 0) far = mostFar;
    }
    if (at >= 0 && where.counts(at, name.length)) {
      places[index] = at;
      from = behindText(text, at + name.length, description?.text.trim() ?? '');
    } else {
      for (const form of writtenForms(name)) addTo(late, form, index);
    }
  }
  if (late.size === 0) return places;
  eachName(where, late.keys(), budget, (form, at) => {
    const indexes = late.get(form);
    if (indexes === undefined) return;
    for (const index of indexes) places[index] ??= at;
    late.delete(form);
  });
  return places;
}

/** Tells each place where one of the names stands as a word of its own, in order for each of them. */
function eachName(
  { text, counts }: Searched,
  names: Iterable<string>,
  budget: ReadingBudget,
  visit: (name: string, at: number) => void,
): void {
  const { signed, others } = bySign(names);
  const visitCounted = (name: string, at: number): void => {
    if (counts(at, name.length)) visit(name, at);
  };
  for (const [sign, words] of signed) eachWord(text, sign, words, budget, visitCounted);
  if (others.length === 0) return;
  eachPlace(text, others, budget, (name, at) => {
    if (standsAlone(text, at, name.length)) visitCounted(name, at);
  });
}

function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** How far behind a name most templates write the tool's description. */
const descriptionReach = 256;
const headLength = 32;

/** The end of the text that follows there, so that it need not be searched; the place itself if another does. */
function behindText(where: string, at: number, text: string): number {
  const way = where.slice(at, at + descriptionReach).indexOf(text.slice(0, headLength));
  return way >= 0 && standsAt(where, text, at + way) ? at + way + text.length : at;
}

/** What a description begins with, and a run of its characters that stands in each of its forms. */
interface Beginning {
  readonly tool: ToolParts;
  readonly text: string;
  readonly run: string;
  /** Made where the run is found. */
  forms?: readonly string[];
}

/** A shorter run of characters stands in other texts of the same words, and takes closer samples to be met. */
const leastTelling = 39;

/** The tools whose descriptions begin somewhere in the text. */
function describedIn(
  { text, counts }: Searched,
  tools: readonly ToolParts[],
  budget: ReadingBudget,
  writings: readonly FormWriting[],
): ReadonlySet<ToolParts> {
  const found = new Set<ToolParts>();
  const wanted = new Map<string, Beginning[]>();
  for (const tool of tools) {
    const said = beginningOf(tool.description?.text ?? '');
    if (said.length < leastDescription) continue;
    for (const text of writings.flatMap((form) => form.write(said)))
      if (text !== said && text !== '') addTo(wanted, text, { tool, text, run: text });
    const run = longestPlainRun(said);
    if (run !== undefined && run.length >= leastTelling) addTo(wanted, run, { tool, text: said, run });
    // Where no long run stands in all of its forms, each is looked for by itself.
    else for (const form of writtenForms(said)) addTo(wanted, form, { tool, text: form, run: form });
  }
  if (wanted.size === 0) return found;
  eachPlace(text, wanted.keys(), budget, (key, at) => {
    const waiting = wanted.get(key) ?? [];
    const rest = waiting.filter((one) => {
      const isThere =
        budget.compare(one.run.length) && counts(at, one.run.length) && beginsAround(text, one, at);
      if (isThere) found.add(one.tool);
      return !isThere;
    });
    if (rest.length < waiting.length) wanted.set(key, rest);
  });
  return found;
}

/** True if one of its forms stands where its run does. */
function beginsAround(text: string, one: Beginning, at: number): boolean {
  const { text: said, run } = one;
  if (!standsAt(text, run, at)) return false;
  if (run === said) return true;
  one.forms ??= writtenForms(said);
  return one.forms.some((form) => {
    const start = at - form.indexOf(run);
    return start >= 0 && standsAt(text, form, start);
  });
}

/** The tools whose names stand more often in the text than the conversation calls them. */
function mentionedIn(
  where: Searched,
  tools: readonly ToolParts[],
  messages: () => readonly MessageParts[],
  budget: ReadingBudget,
): ReadonlySet<ToolParts> {
  const left = new Map(tools.map(({ name }) => [name, 0]));
  if (left.size === 0) return new Set();
  for (const { calls } of messages()) {
    for (const { name } of calls) {
      const before = left.get(name);
      if (before !== undefined) left.set(name, before + 1);
    }
  }
  eachName(where, [...left.keys()], budget, (name) => {
    left.set(name, (left.get(name) ?? 0) - 1);
  });
  return new Set(tools.filter(({ name }) => (left.get(name) ?? 0) < 0));
}
