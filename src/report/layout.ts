/** Lines for a terminal: wrapped at a fixed width, labels in a column of their own. Knows nothing of what they say. */
import { styleText } from 'node:util';

import { displayWidth, wrappedTo } from './display-width.ts';

/** No line takes more columns than this; a single word that does is cut in pieces. */
export const lineWidth = 100;

export type Style = 'bold' | 'red' | 'yellow' | 'cyan' | 'dim';
export type Paint = (style: Style, text: string) => string;

/** @param colors false leaves every text as it is. */
export function createPaint(colors: boolean): Paint {
  return (style, text) => (colors ? styleText(style, text, { validateStream: false }) : text);
}

/** Items side by side, `gap` between them, on as few lines as they fit. An item is broken only if it fits on no line. */
export function flowed(items: readonly string[], columns: number, gap = '  '): string[] {
  const lines: string[] = [];
  for (const item of items) {
    const joined = `${lines.at(-1) ?? ''}${gap}${item}`;
    if (lines.length > 0 && displayWidth(joined) <= columns) lines.splice(-1, 1, joined);
    else lines.push(...cut(item, columns));
  }
  return lines;
}

/** A line's worth at a time, every space kept: an item's spaces mean something. */
function cut(item: string, columns: number): string[] {
  if (displayWidth(item) <= columns) return [item];
  // Printable text holds no NUL, so it can stand for the spaces while the words are measured.
  return wrappedTo(item.replaceAll(' ', '\0'), columns).map((line) => line.replaceAll('\0', ' '));
}

export interface Row {
  readonly label: string;
  /** Wrapped at spaces; or items that are kept whole. */
  readonly value: string | readonly string[];
}

const indent = '  ';

/** Label column and value column; values that need several lines stay in their column. */
export function labelled(rows: readonly Row[]): string[] {
  const labelWidth = Math.max(0, ...rows.map(({ label }) => label.length));
  const width = lineWidth - indent.length - labelWidth - 2;
  return rows.flatMap(({ label, value }) => {
    const lines = typeof value === 'string' ? wrappedTo(value, width) : flowed(value, width);
    return (lines.length === 0 ? [''] : lines).map((line, index) =>
      `${indent}${(index === 0 ? label : '').padEnd(labelWidth)}  ${line}`.trimEnd(),
    );
  });
}
