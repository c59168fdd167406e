/**
 * The edits that keep marker texts from being read as markers: a space behind the first character of each. The text is
 * no longer what the client sent, by one visible character each; nothing else changes.
 */
import type { Edit } from '../../exchange/edits.ts';
import { locateStrings } from '../../exchange/json/json-offsets.ts';
import { locateCharacters } from '../../exchange/json/json-string.ts';
import { mostHits, type MarkedText } from './content-texts.ts';

/** For each text its edits: [] where the bytes of one of its markers are not found, or they are too many. */
export function brokenMarkers(body: Buffer, texts: readonly { readonly text: MarkedText }[]): Edit[][] {
  const strings = locateStrings(
    body,
    texts.map(({ text }) => text.path),
  );
  return texts.map(({ text: { hits } }, index) => {
    const string = strings[index];
    // A space behind the only character of a marker breaks nothing.
    const isBreakable = hits.length <= mostHits && hits.every(({ text }) => text.length > 1);
    if (string === undefined || !isBreakable) return [];
    const places = locateCharacters(
      body,
      string,
      hits.map(({ start }) => start + 1),
    );
    return places?.map((start) => ({ start, end: start, replacement: ' ' })) ?? [];
  });
}
