/** "Did you mean": the nearest of some known words to a mistyped one. */
import { editDistance, plainForm } from '../exchange/near-words.ts';

/**
 * @returns the candidate that differs only in spelling style (`budget_ms`, `budgetMs`), else the nearest by edits
 * within a third of the word's length, else undefined.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const plain = plainForm(word);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(plain, plainForm(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}
