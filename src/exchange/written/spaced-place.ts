/**
 * Where a text stands in another whatever white space either has: for templates that write runs of it as one, join lines or
 * break them anew. Linear: what looks alike again and again is given up, and then counts as there.
 */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** Of the text's beginning, where the word is taken that is looked for. */
const beginning = 256;
const longestWord = 16;
/** So many characters are read whatever the lengths are: short texts are never given up. */
const freeCharacters = 100_000;
/** A comparison reads so many characters at least. */
const leastCost = 16;

/** Empty where the text is blank, and where the search was given up: it is not known to be missing. */
export function spacedPlace(text: string, where: string): Place | undefined {
  const word = longestOf(text.slice(0, beginning));
  if (word === undefined) return { start: 0, end: 0 };
  let left = freeCharacters + 8 * where.length + text.length;
  const words = brokenAnywhere(word.text);
  for (let found = words.exec(where); found !== null; found = words.exec(where)) {
    const { index: at } = found;
    const before = walkBack(text, word.at, where, at);
    const after = walkOn(text, word.at, where, at);
    if (before.isWhole && after.isWhole) return { start: before.at, end: after.at };
    left -= leastCost + before.read + after.read;
    if (left < 0) return { start: at, end: at };
    // Another may begin inside of this one.
    words.lastIndex = at + 1;
  }
  return undefined;
}

/** The word may be broken, too. */
function brokenAnywhere(word: string): RegExp {
  const characters = Array.from({ length: word.length }, (_, index) => word.charAt(index));
  return new RegExp(
    characters.map((one) => one.replace(/[\\^$.*+?()[\]{}|]/, String.raw`\$&`)).join(String.raw`\s*`),
    'g',
  );
}

function longestOf(text: string): { readonly text: string; readonly at: number } | undefined {
  let longest: { readonly text: string; readonly at: number } | undefined;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    if (word.length <= (longest?.text.length ?? 0)) continue;
    longest = { text: word.slice(0, longestWord), at: index };
    if (word.length >= longestWord) break;
  }
  return longest;
}

interface Walk {
  readonly isWhole: boolean;
  /** How far the other text was gone along. */
  readonly at: number;
  readonly read: number;
}

function walkOn(text: string, from: number, where: string, start: number): Walk {
  let at = start;
  let end = start;
  for (let index = from; index < text.length; index += 1) {
    if (isSpace(text, index)) continue;
    while (at < where.length && isSpace(where, at)) at += 1;
    if (text.charCodeAt(index) !== where.charCodeAt(at)) return { isWhole: false, at, read: at - start };
    at += 1;
    end = at;
  }
  return { isWhole: true, at: end, read: at - start };
}

function walkBack(text: string, from: number, where: string, start: number): Walk {
  let at = start - 1;
  let first = start;
  for (let index = from - 1; index >= 0; index -= 1) {
    if (isSpace(text, index)) continue;
    while (at >= 0 && isSpace(where, at)) at -= 1;
    if (at < 0 || text.charCodeAt(index) !== where.charCodeAt(at))
      return { isWhole: false, at, read: start - at };
    first = at;
    at -= 1;
  }
  return { isWhole: true, at: first, read: start - at };
}

/** As `\s` does. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13);
  return code >= 160 && /\s/.test(text.charAt(at));
}
