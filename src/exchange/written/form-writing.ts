/** Writes a text as a template was seen to write texts. Pure. */
import type { TemplateReading } from '../model-facts.ts';
import type { EscapeStyle, JsonStyle, SeenForm, TextPlace } from '../seen-form.ts';

/** One way in which a text is written. */
export interface FormWriting {
  /** What may stand in the prompt; Python chooses its quotes by what they enclose, and so there may be two. */
  readonly write: (text: string) => readonly string[];
  /** The text with its ends, as it stands inside of quotes. */
  readonly inside: (text: string) => string;
  /** True if ASCII letters, digits, blanks and most signs stay as they are and where they are. */
  readonly keepsPlain: boolean;
  /** True if white space is written otherwise, so that only what is between it can be compared. */
  readonly changesSpace: boolean;
  /** The first character, or tag, of the text that is left out and says something; undefined if there is none. */
  readonly leftOut: (text: string) => string | undefined;
}

/** What was seen of one template. */
export interface SeenWriting {
  /** How it writes a text in any of the places; [] where nothing was seen. */
  at(...places: readonly TextPlace[]): readonly FormWriting[];
  /** How it writes the JSON of a tool's result again; undefined if it leaves it as it was sent, or was not seen. */
  readonly resultStyle: JsonStyle | undefined;
  /** Sorts of parts that it leaves out of any conversation. */
  readonly dropped: ReadonlySet<string>;
}

/** What is known of how a template writes; `dropped` is absent while that is being found out. */
export type ReadWriting = Pick<TemplateReading, 'forms' | 'json'> & Partial<Pick<TemplateReading, 'dropped'>>;

const none: readonly FormWriting[] = [];
export const unseen: SeenWriting = { at: () => none, resultStyle: undefined, dropped: new Set() };
const known = new WeakMap<ReadWriting, SeenWriting>();

export function seenWriting(reading: ReadWriting | undefined): SeenWriting {
  if (reading === undefined) return unseen;
  const before = known.get(reading);
  if (before !== undefined) return before;
  const writings = (reading.forms ?? []).map((form) => ({
    places: new Set(form.places),
    writing: writingOf(form),
  }));
  const byPlaces = new Map<string, readonly FormWriting[]>();
  const seen: SeenWriting = {
    at(...places) {
      const key = places.join(' ');
      const here =
        byPlaces.get(key) ??
        writings.filter((one) => places.some((place) => one.places.has(place))).map(({ writing }) => writing);
      byPlaces.set(key, here);
      return here;
    },
    resultStyle: reading.json?.find(({ place }) => place === 'result'),
    dropped: new Set(reading.dropped),
  };
  known.set(reading, seen);
  return seen;
}

const plain = /^[ !#-%(-;=?-[\]-~]+$/;
const tags = /<[^<>]*>/g;
/** White space, format characters and marks that nobody reads say nothing. */
const says = /[^\s\p{C}\p{M}]/u;
/** What stands for a character that could not be written. */
const lost: ReadonlySet<string> = new Set(['', '?', '\u{fffd}']);

export function writingOf(form: SeenForm): FormWriting {
  const { characters, letters, normal, dropsTags = false, changesSpace = false } = form;
  const isPython =
    characters.some(({ given, written }) => given === "'" && written === String.raw`\'`) &&
    !characters.some(({ given }) => given === '"');
  const write = mappingOf(form);
  const pattern = patternOf(form);
  const loses =
    form.beyondAscii === 'dropped' ||
    characters.some(({ given, written }) => given !== written && lost.has(written));
  const isLost = (one: string): boolean => says.test(one) && !lost.has(one) && lost.has(write(one));
  return {
    write: (text) => {
      const given = text.trim();
      const hasOneQuote = isPython && given.includes("'") && !given.includes('"');
      return hasOneQuote ? [write(given, "'"), write(given)] : [write(given)];
    },
    inside: (text) => write(text),
    // A mark makes another letter of the plain one before it.
    keepsPlain:
      letters === undefined &&
      normal === undefined &&
      !dropsTags &&
      !changesSpace &&
      !characters.some(({ given }) => plain.test(given)),
    changesSpace,
    leftOut: (text) => {
      const tag = dropsTags ? text.match(tags)?.find((one) => /^<\/?[a-z]/i.test(one)) : undefined;
      return tag ?? (pattern === undefined || !loses ? undefined : text.match(pattern)?.find(isLost));
    },
  };
}

/** What the form makes of a text, character by character. @param kept one that stays as it is all the same */
export function mappingOf(form: Omit<SeenForm, 'places'>): (text: string, kept?: string) => string {
  const { characters, letters, normal, dropsTags = false } = form;
  const others = new Map(characters.map(({ given, written }) => [given, written]));
  const runs = new Map(
    characters
      .filter(({ given }) => given.length > 2 && isRunOf(given, given.charAt(0)))
      .map(({ given, written: seen }) => [given.slice(0, 2), seen]),
  );
  const pattern = patternOf(form);
  const written = (one: string): string => {
    const style = one > '\u{7f}' ? form.beyondAscii : controls.test(one) ? form.controls : undefined;
    const known = others.get(one) ?? runs.get(one.slice(0, 2));
    return known ?? (style === undefined ? inCase(one, letters) : escaped(one, style));
  };
  return (text, kept) => {
    const normalised = normal === undefined ? text : text.normalize(normal);
    const given = dropsTags ? normalised.replaceAll(tags, '') : normalised;
    return pattern === undefined
      ? given
      : given.replaceAll(pattern, (one) => (one === kept ? one : written(one)));
  };
}

/** Without DEL, which most writers of JSON leave alone. */
const control = String.raw`[\0-\x08\x0b\x0e-\x1f]`;
const controls = new RegExp(`^${control}$`);

function isRunOf(text: string, one: string): boolean {
  return text.length > 2 && text === one.repeat(text.length);
}

/** What may be written as something else; undefined if nothing is. */
function patternOf(form: Omit<SeenForm, 'places'>): RegExp | undefined {
  const singles = new Map(form.characters.map(({ given, written }) => [given, written]));
  const alternatives = form.characters
    .toSorted((a, b) => b.given.length - a.given.length)
    .map(({ given, written }) => {
      const [one = ''] = given;
      const literal = given.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
      // A run that is written as one of it is, is so however long it is.
      return isRunOf(given, one) && written === (singles.get(one) ?? one)
        ? `${literal[0] ?? ''}{2,}`
        : literal;
    });
  if (form.beyondAscii !== undefined) alternatives.push(String.raw`[^\0-\x7f]`);
  if (form.controls !== undefined) alternatives.push(control);
  if (form.letters !== undefined) alternatives.push(String.raw`[^]`);
  return alternatives.length === 0 ? undefined : new RegExp(alternatives.join('|'), 'gu');
}

export function inCase(text: string, letters: SeenForm['letters']): string {
  switch (letters) {
    case undefined:
      return text;
    case 'upper':
      return text.toUpperCase();
    case 'lower':
      return text.toLowerCase();
    case 'upper-ascii':
      return text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
    case 'lower-ascii':
      return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  }
}

/** @param one a single character, of one or two UTF-16 units */
export function escaped(one: string, style: EscapeStyle): string {
  const code = one.codePointAt(0) ?? 0;
  const hexadecimal = code.toString(16);
  const unit = (index: number): string => one.charCodeAt(index).toString(16).padStart(4, '0');
  const units = one.length === 2 ? [unit(0), unit(1)] : [unit(0)];
  switch (style) {
    case 'json':
      return units.map((digits) => String.raw`\u${digits}`).join('');
    case 'json-upper':
      return units.map((digits) => String.raw`\u${digits.toUpperCase()}`).join('');
    case 'python':
      if (code < 0x1_00) return String.raw`\x${hexadecimal.padStart(2, '0')}`;
      return code < 0x1_00_00
        ? String.raw`\u${hexadecimal.padStart(4, '0')}`
        : String.raw`\U${hexadecimal.padStart(8, '0')}`;
    case 'decimal':
      return `&#${code};`;
    case 'hexadecimal':
      return `&#x${hexadecimal};`;
    case 'dropped':
      return '';
  }
}
