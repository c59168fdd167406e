/**
 * The tokens around a finding, fit to leave the process: texts and ids of control tokens, positions and classes; ordinary
 * pieces are pseudonyms. They are shown, with their ids, only if the operator asked for it and the engine gave their texts.
 */
import type { Exchange } from '../exchange/exchange.ts';
import type { MaskedPiece, MaskedWindow } from '../exchange/finding-record.ts';
import type { Finding } from '../exchange/finding.ts';
import { referenceIds } from '../exchange/reference.ts';
import { keyedDigest } from '../tokens/digest.ts';

/** Tokens shown before the finding's place and from it on. */
const before = 6;
const from = 8;

export interface WindowIds {
  readonly start: number;
  readonly ids: readonly number[];
}

/** The ids to show, or undefined if the finding has no place or the ids are not known. */
export function windowIds(exchange: Exchange, finding: Finding): WindowIds | undefined {
  if (finding.tokens === undefined) return undefined;
  const read = exchange.prompts[finding.promptIndex];
  const head = exchange.heads[finding.promptIndex];
  const ids = read?.known === true ? read.ids : head?.known === true ? head.ids : undefined;
  return ids && windowAt(ids, finding.tokens.start);
}

/** The ids that stand there in what the finding compares the prompt with; undefined if it compares it with nothing. */
export function comparedWindowIds(
  { session, reference }: Exchange,
  { kind, tokens, promptIndex }: Finding,
): WindowIds | undefined {
  const ids =
    kind === 'prefix-break'
      ? session?.ancestor?.ids
      : kind === 'template-drift'
        ? reference && referenceIds(reference, promptIndex)
        : undefined;
  return tokens && ids && windowAt(ids, tokens.start);
}

/** The ids around a position; fewer at either end of a prompt, none beyond it. */
export function windowAt(ids: Uint32Array | readonly number[], position: number): WindowIds {
  const start = Math.max(0, position - before);
  return { start, ids: Array.from(ids.slice(start, position + from)) };
}

export function maskWindow(
  { start, ids }: WindowIds,
  exchange: Pick<Exchange, 'facts'>,
  digestKey: Uint8Array,
  pieces?: readonly string[],
): MaskedWindow {
  const textOfMarker = new Map(exchange.facts?.markers.map((marker) => [marker.id, marker.text]));
  return {
    start,
    pieces: ids.map((id, index): MaskedPiece => {
      const position = start + index;
      const marker = textOfMarker.get(id);
      if (marker !== undefined) return { position, class: 'control', text: marker, tokenId: id };
      const piece = pieces?.[index];
      if (piece !== undefined) return { position, class: 'text', text: piece, tokenId: id };
      return { position, class: 'text', id: keyedDigest(digestKey, 'token', String(id)).slice(0, 6) };
    }),
  };
}
