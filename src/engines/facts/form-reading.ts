/**
 * Reads off the rendering of awkward texts how the template writes each character, and how it writes JSON again. What a
 * form does not explain to the last character is no form: of that place nothing is said. Pure but for the questions.
 */
import { parseJson } from '../../exchange/json/body-reader.ts';
import {
  escapeStyles,
  type EscapeStyle,
  type JsonStyle,
  type SeenForm,
  type TextPlace,
  type WrittenAs,
} from '../../exchange/seen-form.ts';
import { escaped, inCase, mappingOf } from '../../exchange/written/form-writing.ts';
import { jsonStyles, withoutIndents, writeJson } from '../../exchange/written/json-style.ts';
import {
  otherSigns,
  partsConversation,
  probeConversations,
  probedEnds,
  probedItems,
  probedJson,
  probedRuns,
  probedTag,
  probedTexts,
  wordAt,
  type ProbeBody,
} from './form-probe.ts';

/** Renders a chat body; undefined if the template refuses it. */
export type Render = (body: object) => Promise<string | undefined>;

export interface ReadForms {
  readonly forms: readonly SeenForm[];
  readonly json: readonly JsonStyle[];
}

export async function readForms(
  render: (body: ProbeBody) => Promise<string | undefined>,
): Promise<ReadForms> {
  const firstTaken = async (): Promise<string | undefined> => {
    for (const body of probeConversations) {
      const rendered = await render(body);
      if (rendered !== undefined) return rendered;
    }
    return undefined;
  };
  const [rendered = '', parts = ''] = await Promise.all([firstTaken(), render(partsConversation)]);
  const all = `${rendered}\n${parts}`;
  return { forms: formsIn(all), json: stylesIn(all) };
}

/** A text may be written twice in a prompt, each time in another way. */
const mostPlaces = 3;

/** Each form once, with all of its places. */
export function formsIn(rendered: string): readonly SeenForm[] {
  const found = new Map<string, { readonly form: Form; readonly places: Set<TextPlace> }>();
  for (const [place, letter] of probedTexts) {
    for (const seen of seenTexts(rendered, letter)) {
      const form = formOf(seen);
      if (form === undefined) continue;
      const key = JSON.stringify(form);
      const known = found.get(key) ?? { form, places: new Set<TextPlace>() };
      known.places.add(place);
      found.set(key, known);
    }
  }
  return [...found.values()].map(({ form, places }) => ({ ...form, places: [...places] }));
}

interface SeenText {
  readonly letters: SeenForm['letters'];
  /** What stands in place of each item. */
  readonly items: readonly string[];
  readonly before: string;
  readonly after: string;
}

/** What stands in place of an item is shorter. */
const longestItem = 64;
const longestEnd = 64;

function seenTexts(rendered: string, letter: string): SeenText[] {
  const words = new RegExp(`W${letter}\\d\\d`, 'gi');
  const places = [...rendered.matchAll(words)];
  const starts = places.flatMap(({ 0: word }, index) =>
    word.toLowerCase() === wordAt(letter, 0).toLowerCase() ? [index] : [],
  );
  return starts.slice(0, mostPlaces).flatMap((start): SeenText[] => {
    const own = places.slice(start, start + probedItems.length + 1);
    const read = own.map(({ 0: word }) => word);
    const isIn = (letters: SeenForm['letters']): boolean =>
      read.every((word, index) => word === inCase(wordAt(letter, index), letters));
    const letters = (['upper-ascii', 'lower-ascii'] as const).find(isIn);
    if (read.length <= probedItems.length || (letters === undefined && !isIn(undefined))) return [];
    const ends = own.map(({ index }, at) => index + (read[at] ?? '').length);
    const first = own[0]?.index ?? 0;
    const last = ends.at(-1) ?? 0;
    return [
      {
        letters,
        items: probedItems.map((_, index) => rendered.slice(ends[index], own[index + 1]?.index)),
        before: rendered.slice(Math.max(0, first - longestEnd), first),
        after: rendered.slice(last, last + longestEnd),
      },
    ];
  });
}

type Form = Omit<SeenForm, 'places'>;

function formOf({ letters: ascii, items, before, after }: SeenText): Form | undefined {
  if (items.some((item) => item.length > longestItem)) return undefined;
  const seen = new Map(probedItems.map((item, index) => [item, items[index] ?? '']));
  const is = (item: string, written: string): boolean => seen.get(item) === written;
  const isInCase = (letters: SeenForm['letters']): boolean =>
    ['\u00e9', '\u00d6'].every((one) => is(one, inCase(one, letters)));
  const letters = caseOf(ascii, isInCase);
  const styleOf = (...characters: readonly string[]): EscapeStyle | undefined =>
    escapeStyles.find((style) => characters.every((one) => is(one, escaped(one, style))));
  const beyondAscii = styleOf('\u00e9', '\u4e2d', '\u{1f600}');
  const controls = styleOf('\u0001');
  const isComposed = is('e\u0301', seen.get('\u00e9') ?? '') && beyondAscii !== 'dropped';
  const normal = isComposed ? (is('\ufb01', inCase('fi', letters)) ? 'NFKC' : 'NFC') : undefined;
  const changesSpace = probedItems.some(
    (item) => isSpace(item) && item !== '\r\n' && isSpace(seen.get(item) ?? '') && !is(item, item),
  );
  const classes: Form = {
    characters: [],
    ...(beyondAscii !== undefined && { beyondAscii }),
    ...(controls !== undefined && { controls }),
    ...(letters !== undefined && { letters }),
    ...(normal !== undefined && { normal }),
    ...(is(probedTag, '') && { dropsTags: true as const }),
    ...(changesSpace && { changesSpace: true as const }),
    trims: 'nothing',
  };
  const form = withCharacters(classes, seen);
  if (!explains(form, seen)) return undefined;
  return { ...form, trims: trimmed(form, before, after) };
}

/** Of letters beyond ASCII, too, where they show it. */
function caseOf(
  ascii: SeenForm['letters'],
  isInCase: (letters: SeenForm['letters']) => boolean,
): SeenForm['letters'] {
  const every = ascii === 'upper-ascii' ? 'upper' : 'lower';
  return ascii !== undefined && isInCase(every) ? every : ascii;
}

const isRun = (item: string): boolean => (probedRuns as readonly string[]).includes(item);

/** Whatever the classes do not tell gets a line of its own, single characters first; runs follow from them, or have one. */
function withCharacters(classes: Form, seen: ReadonlyMap<string, string>): Form {
  let form = classes;
  const singles = probedItems.filter((item) => !isRun(item) && item.length <= 2);
  for (const given of [...singles, ...probedRuns]) {
    const written = seen.get(given) ?? '';
    if (written === writtenBy(form, given)) continue;
    if (form.changesSpace === true && isSpace(given) && isSpace(written)) continue;
    form = { ...form, characters: [...form.characters, { given, written }] };
  }
  return { ...form, characters: [...form.characters, ...droppedSigns(seen.get(otherSigns) ?? '')] };
}

/** Those that are not there, if nothing else has changed. */
function droppedSigns(written: string): WrittenAs[] {
  const gone = Array.from(otherSigns).filter((sign) => !written.includes(sign));
  return gone.map((given) => ({ given, written: '' }));
}

function explains(form: Form, seen: ReadonlyMap<string, string>): boolean {
  const told = (text: string): string => (form.changesSpace === true ? text.replaceAll(/\s+/g, '') : text);
  return [...seen].every(([item, written]) => told(writtenBy(form, item)) === told(written));
}

/** Between two digits, which no form writes otherwise. */
function writtenBy(form: Form, item: string): string {
  return mappingOf(form)(`0${item}0`).slice(1, -1);
}

function isSpace(text: string): boolean {
  return text.trim() === '';
}

function trimmed(form: Form, before: string, after: string): SeenForm['trims'] {
  const ends = writtenBy(form, probedEnds);
  const isKept = [before.endsWith(ends), after.startsWith(ends)] as const;
  if (isKept[0]) return isKept[1] ? 'nothing' : 'end';
  return isKept[1] ? 'start' : 'both';
}

/** Of those places whose JSON is there as a whole, and not as it was sent. */
export function stylesIn(rendered: string): readonly JsonStyle[] {
  const flat = withoutIndents(rendered);
  return probedJson.flatMap(({ place, sent }): JsonStyle[] => {
    const value = parseJson(sent);
    if (value === undefined) return [];
    const style = jsonStyles.find((one) => {
      const quote = one.literals === 'python' ? "'" : '"';
      const written = writeJson(value, one, (text) => quote + text + quote);
      return written !== undefined && flat.includes(written);
    });
    return style === undefined ? [] : [{ place, ...style }];
  });
}
