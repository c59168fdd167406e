/** The table of `--text`: the same text under every switch, how many ids each gives, and which ids. */
import type { TokenizationView, TokenPiece } from '../engines/engine.ts';
import type { Marker } from '../exchange/model-facts.ts';
import { flowed, lineWidth } from '../report/layout.ts';
import { printable, quoted, quotedBytes } from '../report/printable.ts';

/**
 * One row per view; equal sequences of ids share a letter and are listed once below. Markers stand bare, ordinary pieces
 * in quotes, so that `<x>` the control token and "<x>" the text differ.
 */
export function tokenizationTable(views: readonly TokenizationView[], markers: readonly Marker[]): string[] {
  const sequences = distinct(views);
  const switches = Object.keys(views[0]?.options ?? {});
  const heading = [...switches, 'tokens', 'ids'];
  const rows = views.map((view) => [
    ...switches.map((name) => String(view.options[name])),
    String(view.ids.length),
    letterOf(sequences, view) + (view.asPrompt ? '  as the routes that take text read it' : ''),
  ]);
  return [
    ...aligned([heading, ...rows]),
    '',
    ...sequences.flatMap((view, index) => listing(letter(index), view, markers)),
  ];
}

function listing(name: string, { ids, pieces }: TokenizationView, markers: readonly Marker[]): string[] {
  const textOfMarker = new Map(markers.map(({ id, text }) => [id, text]));
  const items = ids.map((id, index) => {
    const marker = textOfMarker.get(id);
    return `${id} ${marker === undefined ? shown(pieces[index] ?? '') : printable(marker)}`;
  });
  const lines = flowed(items.length === 0 ? ['(no tokens)'] : items, lineWidth - 5);
  return lines.map((line, index) => `  ${index === 0 ? name : ' '}  ${line}`);
}

function shown(piece: TokenPiece): string {
  return typeof piece === 'string' ? quoted(piece) : quotedBytes(piece);
}

/** Text columns to the left, the count to the right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const countColumn = (rows[0]?.length ?? 0) - 2;
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === countColumn ? cell.padStart(width) : cell.padEnd(width);
    });
    return `  ${cells.join('  ')}`.trimEnd();
  });
}

function distinct(views: readonly TokenizationView[]): TokenizationView[] {
  return views.filter((view, index) => views.findIndex((other) => sameIds(other, view)) === index);
}

function letterOf(sequences: readonly TokenizationView[], view: TokenizationView): string {
  return letter(sequences.findIndex((sequence) => sameIds(sequence, view)));
}

function letter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

function sameIds(a: TokenizationView, b: TokenizationView): boolean {
  return a.ids.length === b.ids.length && a.ids.every((id, index) => b.ids[index] === id);
}
