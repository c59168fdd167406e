/** Writes a JSON value in the style in which a template was seen to write values. Pure. */
import { isArray, isObject } from '../json/body-reader.ts';
import type { FormWriting } from './form-writing.ts';
import type { Json } from '../request/request.ts';
import type { JsonStyle } from '../seen-form.ts';

/** In deeper ones lines are indented by the template's own measure, which is left out here. */
const mostDepth = 64;

/**
 * With the lines not indented; undefined for a value that is nested too deep.
 * @param quoted writes a text with its quotes
 */
export function writeJson(
  value: Json,
  style: Omit<JsonStyle, 'place'>,
  quoted: (text: string) => string,
  depth = 0,
): string | undefined {
  if (depth > mostDepth) return undefined;
  if (typeof value === 'string') return quoted(value);
  if (isArray(value)) {
    const items = value.map((item) => writeJson(item, style, quoted, depth + 1));
    return enclosed('[', items, ']', style);
  }
  if (isObject(value)) {
    const entries = Object.entries<Json>(value);
    const ordered = style.sorted ? entries.toSorted(([a], [b]) => (a < b ? -1 : 1)) : entries;
    const members = ordered.map(([key, member]) => {
      const written = writeJson(member, style, quoted, depth + 1);
      return written === undefined ? undefined : quoted(key) + style.colon + written;
    });
    return enclosed('{', members, '}', style);
  }
  return literal(value, style);
}

function enclosed(
  open: string,
  items: readonly (string | undefined)[],
  close: string,
  { comma, lines }: Omit<JsonStyle, 'place'>,
): string | undefined {
  if (items.includes(undefined)) return undefined;
  if (!lines || items.length === 0) return open + items.join(comma) + close;
  return `${open}\n${items.join(`${comma.trimEnd()}\n`)}\n${close}`;
}

function literal(value: number | boolean | null, { literals }: Omit<JsonStyle, 'place'>): string {
  if (literals === 'json' || typeof value === 'number') return String(value);
  return value === null ? 'None' : value ? 'True' : 'False';
}

/** True if the value stands there in that style, its texts in one of the forms. */
export function holdsJson(
  value: Json,
  style: JsonStyle,
  writings: readonly FormWriting[],
  where: string,
): boolean {
  const sign = style.literals === 'python' ? "'" : '"';
  const text = style.lines ? withoutIndents(where) : where;
  return [undefined, ...writings].some((form) => {
    // Ends that a form trims stand there all the same inside of quotes.
    const quoted = (one: string): string => sign + (form === undefined ? one : form.inside(one)) + sign;
    const written = writeJson(value, style, quoted);
    return written !== undefined && text.includes(written);
  });
}

/** All ways in which values are known to be written. */
export const jsonStyles: readonly Omit<JsonStyle, 'place'>[] = [false, true].flatMap((lines) =>
  (['json', 'python'] as const).flatMap((literals) =>
    [false, true].flatMap((sorted) =>
      [
        [', ', ': '],
        [',', ':'],
        [',', ': '],
        [', ', ':'],
      ].map(([comma = '', colon = '']) => ({ comma, colon, sorted, lines, literals })),
    ),
  ),
);

/** A text without what its lines are indented by. */
export function withoutIndents(text: string): string {
  return text.replaceAll(/\n[ \t]+/g, '\n');
}
