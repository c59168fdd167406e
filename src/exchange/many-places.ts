/**
 * Finds many texts in a long one by one pass over it (Wu and Manber's search): where its next three characters end no
 * beginning of any of them, it goes on by as many characters as the shortest of the beginnings allows.
 */
import type { ReadingBudget } from './reading-budget.ts';

/** Texts are told by so many first characters, or by fewer where they are shorter; each width takes a pass of its own. */
const widths = [8, 4, 2, 1] as const;
const mostBlock = 3;

/** Tells each place of each of the texts, unless the budget ends before. @param needles not empty */
export function eachPlace(
  text: string,
  needles: Iterable<string>,
  budget: ReadingBudget,
  visit: (needle: string, at: number) => void,
): void {
  const groups = new Map<number, string[]>();
  for (const needle of new Set(needles)) {
    const width = widths.find((one) => one <= needle.length) ?? 1;
    const group = groups.get(width);
    if (group === undefined) groups.set(width, [needle]);
    else group.push(needle);
  }
  for (const [width, group] of groups) {
    if (!budget.spend(text.length)) return;
    pass(text, beginningsOf(group, width), budget, visit);
  }
}

interface Beginnings {
  readonly width: number;
  readonly block: number;
  /** By the hash of a block, how far the next place is at least at which a beginning can end; 0 where one may end here. */
  readonly shifts: Uint8Array;
  /** By their beginning the texts, and the lengths that they have. */
  readonly texts: ReadonlyMap<string, { readonly lengths: Set<number>; readonly whole: Set<string> }>;
}

function beginningsOf(needles: readonly string[], width: number): Beginnings {
  const block = Math.min(width, mostBlock);
  const shifts = new Uint8Array(65_536).fill(width - block + 1);
  const texts = new Map<string, { lengths: Set<number>; whole: Set<string> }>();
  for (const needle of needles) {
    for (let end = block; end <= width; end += 1) {
      const hash = hashBefore(needle, end, block);
      shifts[hash] = Math.min(shifts[hash] ?? 0, width - end);
    }
    const beginning = needle.slice(0, width);
    const same = texts.get(beginning) ?? { lengths: new Set<number>(), whole: new Set<string>() };
    same.lengths.add(needle.length);
    same.whole.add(needle);
    texts.set(beginning, same);
  }
  return { width, block, shifts, texts };
}

function pass(
  text: string,
  { width, block, shifts, texts }: Beginnings,
  budget: ReadingBudget,
  visit: (needle: string, at: number) => void,
): void {
  for (let end = width; end <= text.length; ) {
    const shift = shifts[hashBefore(text, end, block)] ?? 1;
    if (shift > 0) {
      end += shift;
      continue;
    }
    const at = end - width;
    const same = texts.get(text.slice(at, end));
    for (const length of same?.lengths ?? []) {
      if (!budget.spend(length)) return;
      const found = text.slice(at, at + length);
      if (same?.whole.has(found) === true) visit(found, at);
    }
    end += 1;
  }
}

/** Of the last characters before that place. */
function hashBefore(text: string, end: number, block: number): number {
  let hash = Math.imul(text.charCodeAt(end - 1), 0x27d5);
  if (block > 1) hash += Math.imul(text.charCodeAt(end - 2), 0x85eb);
  if (block > 2) hash += Math.imul(text.charCodeAt(end - 3), 0x9e37);
  return hash & 0xffff;
}
