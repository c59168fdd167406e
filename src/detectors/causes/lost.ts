/** What the rendered prompt of a chat has lost; found once for all detectors that ask. */
import type { Exchange } from '../../exchange/exchange.ts';
import { lostParts, type LostParts } from '../../exchange/lost-parts.ts';
import type { GenerationRequest } from '../../exchange/request.ts';

const known = new WeakMap<GenerationRequest, { readonly rendered: string; readonly lost: LostParts }>();

/** Undefined for what is no chat, and where the prompt's text is not known. */
export function lostOf({ request, prompts: [read] }: Exchange): LostParts | undefined {
  if (request?.kind !== 'chat' || read?.known !== true || read.text === undefined) return undefined;
  const before = known.get(request);
  if (before?.rendered === read.text) return before.lost;
  const lost = lostParts(request, read.text);
  known.set(request, { rendered: read.text, lost });
  return lost;
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
