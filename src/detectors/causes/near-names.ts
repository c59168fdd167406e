/** Which of some names was meant by one that is not among them: misspelt, written in another way, or said in other words. */
import type { Json } from '../../exchange/request/request.ts';

const mostNear = 2;

/** The nearest first; [] where none is near enough to be meant. */
export function nearNames(name: string, value: Json, known: readonly string[]): readonly string[] {
  return known
    .map((one) => ({ one, distance: distanceOf(name, value, one) }))
    .filter(({ distance }) => distance !== undefined)
    .toSorted((a, b) => (a.distance ?? 0) - (b.distance ?? 0))
    .slice(0, mostNear)
    .map(({ one }) => one);
}

function distanceOf(name: string, value: Json, known: string): number | undefined {
  const [a, b] = [plain(name), plain(known)];
  if (a === b) return 0;
  const most = Math.min(a.length, b.length) >= 9 ? 2 : Math.min(a.length, b.length) >= 6 ? 1 : 0;
  const changed = Math.abs(a.length - b.length) <= most ? changesBetween(a, b) : most + 1;
  if (changed <= most) return changed;
  return typeof value === 'boolean' && switchesThinking(name) && switchesThinking(known)
    ? most + 1
    : undefined;
}

/** `enableThinking` is `enable_thinking`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Names of the one switch that each family calls by a name of its own. */
function switchesThinking(name: string): boolean {
  return /^(?:(?:enabled?|use|do|is|with)[_-]?)?(?:think(?:ing)?|reason(?:ing)?)(?:[_-]?(?:enabled?|on))?$/i.test(
    name,
  );
}

/** Letters to put in, take out or replace, as Levenshtein counts them. */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const kept = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(kept, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
