// Tokens of a rendered text for tests of pure parts: each marker is its id, each other character one id of its own.
// Positions can be counted by hand; segments are cut as the product cuts them.
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import type { KnownTokens, SegmentRead } from '../../src/exchange/token-read.ts';
import { compileMarkers, cutAtMarkers } from '../../src/tokens/markers.ts';

/** Above every id of the families in exchange-builder. */
const firstCharacterId = 300_000;

export function tokenizedText(text: string, { markers }: ModelFacts): KnownTokens {
  const pattern = compileMarkers(markers);
  const ids: number[] = [];
  const segments: SegmentRead[] = [];
  for (const segment of cutAtMarkers(text, pattern)) {
    segments.push({ key: segment.text, tokenStart: ids.length, textStart: segment.start });
    const marker = markers.find((one) => segment.text.startsWith(one.text));
    if (marker !== undefined) ids.push(marker.id);
    for (const character of segment.text.slice(marker?.text.length ?? 0)) {
      ids.push(firstCharacterId + (character.codePointAt(0) ?? 0));
    }
  }
  return { known: true, ids: Uint32Array.from(ids), source: 'engine', text, segments };
}
