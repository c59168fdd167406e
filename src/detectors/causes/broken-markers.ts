/**
 * The edits that keep marker texts from being read as markers: a space behind the first character of each. The text is
 * no longer what the client sent, by one visible character each; nothing else changes.
 */
import type { Edit } from '../../exchange/edits.ts';
import { locateCharacters } from '../../exchange/json-offsets.ts';
import type { ContentText } from './content-texts.ts';
import type { MarkerHit } from './turn-signs.ts';

/** A text with more of them is no text with a marker in it; it is not repaired but can be rejected. */
const mostBroken = 256;

/** [] where the bytes of one of them are not found, or they are too many. */
export function brokenMarkers(body: Buffer, { path }: ContentText, markers: readonly MarkerHit[]): Edit[] {
  if (markers.length > mostBroken) return [];
  const places = locateCharacters(
    body,
    path,
    markers.map(({ start }) => start + 1),
  );
  return places?.map((start) => ({ start, end: start, replacement: ' ' })) ?? [];
}
