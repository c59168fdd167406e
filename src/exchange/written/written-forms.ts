/**
 * The forms in which a template can write a text, and how a text is looked for in all of them: first as this template was seen
 * to write texts, then in those that any may have, for what was not seen. A template that only trims, quotes or escapes has
 * lost nothing. Pure; the same for every engine and family.
 */
import type { FormWriting } from './form-writing.ts';
import { spacedPlace } from './spaced-place.ts';
import { placeOf } from './text-place.ts';

export interface Found {
  readonly start: number;
  readonly end: number;
}

/** The text itself comes first; a form that writes it the same way is left out. */
export function writtenForms(text: string): readonly string[] {
  const given = text.trim();
  if (!/[^ !#-%(-;=?-[\]-~]/.test(given)) return [given];
  const read = asTokenized(given);
  return read === given ? formsOf(given) : [...new Set([...formsOf(given), ...formsOf(read)])];
}

/** Where the prompt's text is known by its ids: composed characters (NFC), and a space for the sign that stands for one. */
function asTokenized(text: string): string {
  return text.normalize('NFC').replaceAll('▁', ' ');
}

/** What JSON or HTML writes in another way, but for what is beyond ASCII. */
const escapable = /[^ !#-%(-;=?-[\]-~\u0080-\ud7ff\ue000-\uffff]/;

function formsOf(given: string): readonly string[] {
  if (!escapable.test(given)) return [...new Set([given, asAscii(given)])];
  const json = JSON.stringify(given).slice(1, -1);
  const ascii = asAscii(json);
  return [
    ...new Set([
      given,
      json,
      ascii,
      ascii.replaceAll(/[<>&']/g, escapeUnit),
      json.replaceAll(/[<>&']/g, escapeUnit),
      given.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character),
      json.replaceAll("'", "\\'").replaceAll('\\"', '"'),
      given.replaceAll('\r\n', '\n'),
    ]),
  ];
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function asAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, escapeUnit);
}

function escapeUnit(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at += 1) {
    escaped += String.raw`\u`.concat(character.charCodeAt(at).toString(16).padStart(4, '0'));
  }
  return escaped;
}

/** In the first of its forms that is there. */
function findForm(forms: readonly string[], text: string): Found | undefined {
  for (const form of forms) {
    const start = placeOf(text, form);
    if (start >= 0) return { start, end: start + form.length };
  }
  return undefined;
}

/**
 * As `findForm` in all forms of the text; few of them are made where there is none.
 * @param seen how this template writes texts of that sort
 */
export function findWritten(
  text: string,
  where: string,
  seen: readonly FormWriting[] = [],
): Found | undefined {
  const given = text.trim();
  const start = placeOf(where, given);
  if (start >= 0) return { start, end: start + given.length };
  const run = plainRun(given);
  const isGone = run !== undefined && (run === given || !where.includes(run));
  for (const form of seen) {
    if (isGone && form.keepsPlain) continue;
    const found = findAs(form, given, where);
    if (found !== undefined) return found;
  }
  return isGone ? undefined : findForm(writtenForms(text).slice(1), where);
}

/** In one way of writing alone. */
export function findAs(form: FormWriting, text: string, where: string): Found | undefined {
  for (const written of form.write(text)) {
    if (form.changesSpace) {
      const found = spacedPlace(written, where);
      if (found !== undefined) return found;
    } else {
      const start = written === text ? -1 : placeOf(where, written);
      if (start >= 0) return { start, end: start + written.length };
    }
  }
  return undefined;
}

/** What no form writes in another way. */
const plain = String.raw` !#-%(-;=?-[\]-~`;
const plainCodes: readonly boolean[] = Array.from({ length: 0x80 }, (_, code) =>
  new RegExp(`[${plain}]`).test(String.fromCharCode(code)),
);

export function isPlainCode(code: number): boolean {
  return plainCodes[code] ?? false;
}

const plainRuns = new RegExp(`[${plain}]{12,48}`);
const onlyPlain = new RegExp(`^[${plain}]*$`);

/** True for a text that each form writes as it is. */
export function isPlain(text: string): boolean {
  return onlyPlain.test(text);
}

/** A run of the text's characters that stands in each of its forms; undefined if all are shorter than is worth a look. */
function plainRun(text: string): string | undefined {
  return plainRuns.exec(text)?.[0];
}

const allPlainRuns = new RegExp(plainRuns.source, 'g');

/** The longest such run. */
export function longestPlainRun(text: string): string | undefined {
  const [first, ...others] = text.match(allPlainRuns) ?? [];
  return others.reduce(
    (longest, run) => (longest === undefined || run.length > longest.length ? run : longest),
    first,
  );
}

/** The last such run. */
export function lastPlainRun(text: string): string | undefined {
  return text.match(allPlainRuns)?.at(-1);
}

/** A shorter text may be in the markup by chance. */
export const leastTold = 3;

const beginning = 48;

/** As much of a text as tells it from others. */
export function beginningOf(text: string): string {
  return text.trim().slice(0, beginning);
}

/** Short enough to lie between two escapes of most texts, long enough not to be there by chance. */
export const anchorLength = 20;
const stride = 8;
const slowTries = 64;

/** A text's beginning that is looked for in steps of equal length: such a run in it is met by one of them. */
export const probedLength = stride * slowTries;
export const longPlainRun = new RegExp(`[${plain}]{${anchorLength + stride}}`);

/**
 * The runs of the form that are not in the text, in order, where it is there in pieces; a run is never shorter than an
 * anchor. The pieces must be in order. Linear: what is not found is looked for in ever larger steps.
 */
export function missingRuns(form: string, text: string): readonly Found[] {
  const runs: Found[] = [];
  let at = 0;
  let from = 0;
  let kept = 0;
  while (at < form.length) {
    const piece = nextPiece(form, at, text, from);
    const start = piece === undefined ? form.length : piece.at;
    if (start - at >= anchorLength || piece === undefined) runs.push({ start: at, end: start });
    if (piece === undefined) break;
    at = piece.at + piece.length;
    from = piece.place + piece.length;
    kept += piece.length;
  }
  return kept === 0
    ? [{ start: 0, end: form.length }]
    : runs.filter(({ start, end }) => end - start >= anchorLength);
}

interface Piece {
  readonly at: number;
  readonly place: number;
  readonly length: number;
}

/** The next part of the form that the text holds: as long as it goes on, and from as early as it does. */
function nextPiece(form: string, at: number, text: string, from: number): Piece | undefined {
  let step = stride;
  let tries = 0;
  for (let probe = at; probe + anchorLength <= form.length; probe += step, tries += 1) {
    if (tries >= slowTries) step *= 2;
    const place = text.indexOf(form.slice(probe, probe + anchorLength), from);
    if (place < 0) continue;
    let before = 0;
    while (
      probe - before > at &&
      place - before > from &&
      form[probe - before - 1] === text[place - before - 1]
    )
      before += 1;
    let after = anchorLength;
    while (probe + after < form.length && form[probe + after] === text[place + after]) after += 1;
    return { at: probe - before, place: place - before, length: before + after };
  }
  return undefined;
}
