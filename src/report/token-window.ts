/**
 * The tokens around a finding as lines: pieces side by side, carets under those that the finding is about. Markers stand
 * bare, ordinary pieces in quotes or, where masked, as a pseudonym. Shows what the record holds, nothing more.
 */
import { printable, quoted } from './printable.ts';
import type { Paint } from './layout.ts';
import type { FindingRecord, MaskedPiece, MaskedWindow } from '../exchange/finding-record.ts';
import { clippedTo, displayWidth } from './display-width.ts';

export interface WindowRow {
  /** Position of the row's first token. */
  readonly position: number;
  readonly pieces: string;
  /** Spaces and carets that stand below the pieces; absent if the finding is about none of the row's tokens. */
  readonly carets?: string;
}

/** Pseudonyms are longer; a few digits are enough to see which of a dozen tokens are equal. */
const pseudonymDigits = 3;

/** @param columns the widest row; a piece that is wider alone is clipped. */
export function windowRows(
  window: MaskedWindow,
  marked: FindingRecord['tokens'],
  columns: number,
  paint: Paint,
): WindowRow[] {
  const isMarked = ({ position }: MaskedPiece): boolean =>
    marked !== undefined && position >= marked.start && position < marked.end;
  const rows: MaskedPiece[][] = [];
  let used = 0;
  for (const piece of window.pieces) {
    const width = displayWidth(shownPiece(piece, columns));
    const row = rows.at(-1);
    if (row !== undefined && used + 1 + width <= columns) {
      row.push(piece);
      used += 1 + width;
    } else {
      rows.push([piece]);
      used = width;
    }
  }
  return rows.map((row): WindowRow => {
    const carets = caretsBelow(row, isMarked, columns);
    const painted = row.map((piece) => {
      const text = shownPiece(piece, columns);
      if (piece.class === 'control') return paint('cyan', text);
      return isMarked(piece) ? text : paint('dim', text);
    });
    return {
      position: row[0]?.position ?? window.start,
      pieces: painted.join(' '),
      ...(carets !== '' && { carets }),
    };
  });
}

/** The ids of its tokens as far as the record tells them, a point for each other; undefined if it tells none. */
export function windowIdList({ pieces }: MaskedWindow): string | undefined {
  if (pieces.every(({ tokenId }) => tokenId === undefined)) return undefined;
  return pieces.map(({ tokenId }) => (tokenId === undefined ? '·' : String(tokenId))).join(' ');
}

function caretsBelow(
  row: readonly MaskedPiece[],
  isMarked: (piece: MaskedPiece) => boolean,
  columns: number,
): string {
  const below = row.map((piece, index) => {
    const next = row[index + 1];
    // The gap between two marked tokens is underlined as well, so that a range reads as one.
    const gap = next !== undefined && isMarked(piece) && isMarked(next) ? '^' : ' ';
    return (isMarked(piece) ? '^' : ' ').repeat(displayWidth(shownPiece(piece, columns))) + gap;
  });
  return below.join('').trimEnd();
}

function shownPiece(piece: MaskedPiece, columns: number): string {
  if (piece.text === undefined)
    return piece.id === undefined ? '·' : `‹${piece.id.slice(0, pseudonymDigits)}›`;
  return clippedTo(piece.class === 'control' ? printable(piece.text) : quotedPiece(piece.text), columns);
}

/** JSON in prompts is full of double quotes; in single ones they need no backslash. */
function quotedPiece(text: string): string {
  if (!text.includes('"') || text.includes("'")) return quoted(text);
  return `'${printable(text.replaceAll('\\', '\\\\'))}'`;
}
