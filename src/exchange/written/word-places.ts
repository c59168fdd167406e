/**
 * Finds many names in a long text by a sign that they have and most words have not: only where it stands is a word looked
 * at, and what is a name there is all of the word.
 */
import { isNameCharacter } from './name-place.ts';
import type { ReadingBudget } from './reading-budget.ts';

/** In names of tools; prose has few of them. */
const signs = ['_', '-'] as const;

export function isSigned(name: string): boolean {
  return signOf(name) !== undefined;
}

function signOf(name: string): string | undefined {
  return isWord(name) ? signs.find((one) => name.includes(one)) : undefined;
}

/** Names that such a sign tells, and the others. */
export function bySign(names: Iterable<string>): {
  readonly signed: ReadonlyMap<string, ReadonlySet<string>>;
  readonly others: readonly string[];
} {
  const signed = new Map<string, Set<string>>();
  const others: string[] = [];
  for (const name of names) {
    const sign = signOf(name);
    if (sign === undefined) others.push(name);
    else signed.set(sign, (signed.get(sign) ?? new Set()).add(name));
  }
  return { signed, others };
}

/** True for a name without a character that ends one. */
function isWord(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) if (!isNameCharacter(name.charAt(at))) return false;
  return true;
}

/**
 * Tells each place where one of the names stands as a word, in order, unless the budget ends before.
 * @param names each has the sign and is a word
 */
export function eachWord(
  text: string,
  sign: string,
  names: ReadonlySet<string>,
  budget: ReadingBudget,
  visit: (name: string, at: number) => void,
): void {
  let longest = 0;
  for (const { length } of names) longest = Math.max(longest, length);
  for (let at = text.indexOf(sign); at >= 0;) {
    let start = at;
    while (at - start <= longest && isNameCharacter(text[start - 1])) start -= 1;
    let end = at + 1;
    while (end - at <= longest && isNameCharacter(text[end])) end += 1;
    if (!budget.spend(end - start)) return;
    // A word that was not read to its ends is longer than any of the names.
    const word = text.slice(start, end);
    if (names.has(word)) visit(word, start);
    at = text.indexOf(sign, end);
  }
}
