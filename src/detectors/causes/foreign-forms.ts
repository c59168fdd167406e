/**
 * The forms of turns that are not the served model's: those of well-known families that its template does not write, and
 * its own with their markers misspelt. Which of the markers its vocabulary has is the engine's answer, not the list's.
 */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import {
  markerFamilies,
  type MarkerFamily,
  type TurnForms,
  type TurnOpening,
} from '../../tokens/marker-families.ts';
import { compileMarkers, type MarkerPattern } from '../../tokens/markers.ts';
import { misspellings } from './misspelt-markers.ts';
import { ownForms } from './turn-forms.ts';
import type { SignForms } from './turn-signs.ts';

export interface ForeignForm extends SignForms {
  /** The family's name; absent for the model's own form with its markers misspelt. */
  readonly family?: string;
  /** For a misspelt marker the right one. */
  readonly meant: ReadonlyMap<string, string>;
}

export interface ForeignForms {
  /** By the marker that a turn opens with. */
  readonly byStart: ReadonlyMap<string, ForeignForm>;
  /** Finds the markers that turns open or end with. */
  readonly pattern: MarkerPattern;
  /** Matches a text that begins with such an opening, behind white space and what may stand before a first turn. */
  readonly beginning: RegExp | undefined;
  /** What such texts begin with behind white space; most others do not. */
  readonly firstCharacters: ReadonlySet<string>;
}

const formsByFacts = new WeakMap<ModelFacts, ForeignForms>();

export function foreignForms(facts: ModelFacts): ForeignForms {
  const known = formsByFacts.get(facts);
  if (known !== undefined) return known;
  const forms = learnForms(facts);
  formsByFacts.set(facts, forms);
  return forms;
}

function learnForms(facts: ModelFacts): ForeignForms {
  const written = writtenByTemplate(facts);
  const others = markerFamilies.filter(
    (family) =>
      family.openings.every(({ start }) => !written.includes(start)) && !maybeModels(family, written, facts),
  );
  // What is a marker of somebody's is no misspelling of another's.
  const taken = new Set([
    ...markerFamilies.flatMap((family) => [...textsOf(family), ...family.heads]),
    ...facts.markers.map(({ text }) => text),
    ...textsOf(ownForms(facts)),
  ]);
  const own = misspelt(ownForms(facts), taken);
  const forms = [
    ...(own.openings.length > 0 ? [formOf(own, own.meant)] : []),
    ...others.map(({ family, openings, ends }) => {
      const wrong = misspelt({ openings, ends }, taken);
      const all = { openings: [...openings, ...wrong.openings], ends: [...ends, ...wrong.ends] };
      return { family, ...formOf(all, wrong.meant) };
    }),
  ];
  const byStart = new Map<string, ForeignForm>();
  for (const form of forms) {
    for (const { start } of form.openings) if (!byStart.has(start)) byStart.set(start, form);
  }
  const heads = markerFamilies.flatMap((family) => family.heads);
  const ownHeads = [facts.bos?.text ?? '', facts.eos?.text ?? ''].filter((text) => text !== '');
  return {
    byStart,
    pattern: patternOf(forms.flatMap(textsOf)),
    beginning: beginningOf([...byStart.keys()], [...heads, ...ownHeads]),
    firstCharacters: new Set([...byStart.keys(), ...heads, ...ownHeads].map((text) => text.charAt(0))),
  };
}

/**
 * True where the served template may be the wrong one and the family the model's: its vocabulary has the family's markers,
 * and lacks those that the template writes, or stops at a token of the family that the template never writes.
 */
function maybeModels({ openings, ends }: MarkerFamily, written: string, facts: ModelFacts): boolean {
  const { markers, absentMarkers = [], eos } = facts;
  if (!openings.some(({ start }) => markers.some(({ text }) => text === start))) return false;
  const isUnknown = absentMarkers.some(({ text }) => written.includes(text));
  return isUnknown || (eos !== undefined && ends.includes(eos.text) && !written.includes(eos.text));
}

/** All that the template is seen to write around texts. */
function writtenByTemplate({ roleMarkers, turnEnds = [], generationPrompt, thinkTail }: ModelFacts): string {
  const openings = roleMarkers.map(({ opening }) => opening);
  return [...openings, ...turnEnds, generationPrompt?.text ?? '', thinkTail?.text ?? ''].join('\n');
}

function formOf(forms: TurnForms, meant: ReadonlyMap<string, string>): Omit<ForeignForm, 'family'> {
  return { ...forms, meant, never: new Set(textsOf(forms)), pattern: patternOf(textsOf(forms)) };
}

interface Misspelt extends TurnForms {
  readonly meant: ReadonlyMap<string, string>;
}

function misspelt({ openings, ends }: TurnForms, taken: ReadonlySet<string>): Misspelt {
  const meant = new Map<string, string>();
  const spell = (marker: string): string[] => {
    const free = misspellings(marker).filter((text) => !taken.has(text));
    for (const text of free) meant.set(text, marker);
    return free;
  };
  return {
    openings: openings.flatMap(({ start, named, close }): TurnOpening[] => {
      const closes = [close, ...spell(close)];
      return spell(start).flatMap((text) => closes.map((end) => ({ start: text, named, close: end })));
    }),
    ends: ends.flatMap(spell),
    meant,
  };
}

function textsOf({ openings, ends }: TurnForms): string[] {
  return [...openings.map(({ start }) => start), ...ends];
}

function patternOf(texts: readonly string[]): MarkerPattern {
  return compileMarkers([...new Set(texts)].map((text) => ({ text, id: -1 })));
}

function beginningOf(starts: readonly string[], heads: readonly string[]): RegExp | undefined {
  const opening = patternOf(starts).pattern?.source;
  const head = patternOf(heads).pattern?.source;
  if (opening === undefined || head === undefined) return undefined;
  return new RegExp(`^(?:\\s|${head})*(?=(${opening}))`, 'u');
}
