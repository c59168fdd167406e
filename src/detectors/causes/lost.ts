/** What the rendered prompt of a chat has lost, for the detectors that tell of it. */
import type { Exchange } from '../../exchange/exchange.ts';
import { lostParts, type LostParts } from '../../exchange/written/lost-parts.ts';

/** Undefined for what is no chat, and where the prompt's text is not known. */
export function lostOf({ request, facts, prompts: [read] }: Exchange): LostParts | undefined {
  if (request?.kind !== 'chat' || read?.known !== true || read.text === undefined) return undefined;
  return lostParts(request, read.text, facts?.reading);
}

/** The items by what they have in common, in the order in which that comes first; no group is empty. */
export function grouped<Item, Key>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): readonly (readonly [Key, readonly [Item, ...Item[]]])[] {
  const groups = new Map<Key, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups];
}
