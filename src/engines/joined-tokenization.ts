/**
 * Many texts in few calls, for engines whose tokenizer endpoint takes one text: they are joined at proven boundaries and
 * the ids are cut there again. Where a cut does not come out as it must, each text is asked for by itself.
 */
import type { Marker } from '../exchange/model-facts.ts';
import { cutIdsAtMarkers, type MarkerPattern } from '../tokens/markers.ts';

/** Ids of one text, nothing added, control tokens recognised. */
export type TokenizeOne = (text: string) => Promise<Uint32Array>;

/** Of one call; an engine may refuse a text that is longer than its context. */
const mostCharacters = 8 * 1024;

/** Texts of any kind, with a proven boundary between them. @param separator none: one call per text */
export async function tokenizeSeparated(
  texts: readonly string[],
  separator: Marker | undefined,
  tokenize: TokenizeOne,
): Promise<Uint32Array[]> {
  if (separator === undefined) return Promise.all(texts.map(tokenize));
  const parts = new Map<number, Uint32Array>();
  const joinable = [...texts.keys()].filter((index) => texts[index]?.includes(separator.text) === false);
  const alone = [...texts.keys()].filter((index) => !joinable.includes(index));
  const cut = async (group: readonly number[]): Promise<void> => {
    const members = group.map((index) => texts[index] ?? '');
    const ids = await tokenize(members.join(separator.text));
    const found = splitAt(ids, separator.id);
    if (found.length !== group.length) alone.push(...group);
    else
      for (const [at, index] of group.entries())
        parts.set(index, (found[at] ?? ids).subarray(at > 0 ? 1 : 0));
  };
  await Promise.all(
    groupsOf(joinable, (index) => (texts[index]?.length ?? 0) + separator.text.length).map(cut),
  );
  await Promise.all(alone.map(async (index) => parts.set(index, await tokenize(texts[index] ?? ''))));
  return texts.map((_, index) => parts.get(index) ?? new Uint32Array());
}

/** Segments as `cutAtMarkers` makes them: each but the first begins with a marker and holds no other. */
export async function tokenizeSegments(
  segments: readonly string[],
  markers: MarkerPattern,
  tokenize: TokenizeOne,
): Promise<Uint32Array[]> {
  const cut = async (group: readonly string[]): Promise<Uint32Array[]> => {
    const ids = await tokenize(group.join(''));
    if (group.length === 1) return [ids];
    // Copies: what is remembered of one segment must not hold the whole answer.
    const parts = cutIdsAtMarkers(ids, markers.ids).map((part) => part.slice());
    const asExpected =
      parts.length === group.length &&
      parts.every((part, at) => {
        const opening = openingId(group[at] ?? '', markers);
        return opening === undefined ? at === 0 : part[0] === opening;
      });
    return asExpected ? parts : Promise.all(group.map(tokenize));
  };
  return (await Promise.all(groupsOf(segments, ({ length }) => length).map(cut))).flat();
}

function openingId(text: string, { pattern, idByText }: MarkerPattern): number | undefined {
  if (pattern === undefined) return undefined;
  const match = new RegExp(pattern.source, 'uy').exec(text);
  return match === null ? undefined : idByText.get(match[0]);
}

/** Cuts before every separator, so that the first part may be empty. */
function splitAt(ids: Uint32Array, separator: number): Uint32Array[] {
  const parts: Uint32Array[] = [];
  let from = 0;
  for (const [at, id] of ids.entries()) {
    if (id !== separator) continue;
    parts.push(ids.slice(from, at));
    from = at;
  }
  parts.push(ids.slice(from));
  return parts;
}

function groupsOf<Item>(items: readonly Item[], lengthOf: (item: Item) => number): Item[][] {
  const groups: Item[][] = [];
  let length = Infinity;
  for (const item of items) {
    length += lengthOf(item);
    if (length > mostCharacters) {
      groups.push([]);
      length = lengthOf(item);
    }
    groups.at(-1)?.push(item);
  }
  return groups;
}
