/** Which of some names was meant by one that is not among them: misspelt, written in another way, or said in other words. */
import { editDistance, plainForm } from '../../exchange/near-words.ts';
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
  const [a, b] = [plainForm(name), plainForm(known)];
  if (a === b) return 0;
  const most = Math.min(a.length, b.length) >= 9 ? 2 : Math.min(a.length, b.length) >= 6 ? 1 : 0;
  const changed = Math.abs(a.length - b.length) <= most ? editDistance(a, b) : most + 1;
  if (changed <= most) return changed;
  return typeof value === 'boolean' && switchesThinking(name) && switchesThinking(known)
    ? most + 1
    : undefined;
}

/** Names of the one switch that each family calls by a name of its own. */
function switchesThinking(name: string): boolean {
  return /^(?:(?:enabled?|use|do|is|with)[_-]?)?(?:think(?:ing)?|reason(?:ing)?)(?:[_-]?(?:enabled?|on))?$/i.test(
    name,
  );
}
