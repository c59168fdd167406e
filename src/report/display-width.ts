/**
 * Text measured in terminal columns: CJK and emoji take two, combining marks none. Expects printable text (escape
 * control characters first); never looks at the terminal itself.
 */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Scripts and blocks that Unicode's East Asian Width calls wide or full-width. */
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f)/u;
const zeroWidth = /^[\p{Mn}\p{Me}]/u;

function graphemeWidth(grapheme: string): number {
  if (wide.test(grapheme)) return 2;
  return zeroWidth.test(grapheme) ? 0 : 1;
}

/** Columns that a terminal gives the text. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The text, or as much of it as fits into `columns` together with an ellipsis. */
export function clippedTo(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  return `${leading(text, columns - 1)}…`;
}

/**
 * Words on lines of at most `columns` columns; a word that is longer than a line is cut into pieces. Always ends,
 * though a line of one column can't hold a wide character.
 */
export function wrappedTo(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter(Boolean)) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) <= columns) {
      line += ` ${word}`;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (displayWidth(line) > columns) {
      const piece = leading(line, columns) || line;
      lines.push(piece);
      line = line.slice(piece.length);
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** The longest beginning of the text that fits into `columns`. */
function leading(text: string, columns: number): string {
  let width = 0;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}
