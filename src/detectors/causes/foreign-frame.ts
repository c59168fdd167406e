/**
 * Texts that are a conversation in another form than the served model's, from their first turn to the place for an
 * answer. What stands within a text, behind other words or in a fence is quoted, and no frame.
 */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import { trimmed } from '../../exchange/written/text-place.ts';
import { foreignForms, type ForeignForm } from './foreign-forms.ts';
import { ownForms } from './turn-forms.ts';
import { firstSign, turnSigns, type TurnSign } from './turn-signs.ts';

export interface ForeignFrame {
  readonly form: ForeignForm;
  readonly first: TurnSign;
  readonly last: TurnSign;
}

/** Of a prompt's end: more than the opening of an answer takes. */
const endCharacters = 256;

const lastCharacters = 16_384;
/** A longer text without the place for an answer is no question that a client has rendered. */
const mostQuestionCharacters = 65_536;

/** Roles whose turn is not the answer, in the words of all families. */
const askingRole = /system|user|human|tool|developer|ipython|function|inst/i;

/** A raw prompt that begins with such a turn, or whose answer opens with one. */
export function foreignPrompt(text: string, facts: ModelFacts): ForeignFrame | undefined {
  return beginsForeign(text, facts) ?? endsForeign(text, facts);
}

/**
 * A message's text that is such a conversation from its first character to its last, and waits for an answer.
 * @param alone nothing else in the request says what to do with the text
 */
export function foreignMessage(text: string, facts: ModelFacts, alone: boolean): ForeignFrame | undefined {
  const frame = beginsForeign(text, facts);
  if (frame === undefined || frame.first.start === frame.last.start) return undefined;
  const { form, last } = frame;
  if (opensAnswer(text, last, form)) return frame;
  if (!alone || text.length > mostQuestionCharacters || text.slice(last.end).trim() !== '') return undefined;
  const signs = signsOf(text, form).filter(({ kind }) => kind === 'opening');
  return signs.every((sign) => !isAnswer(sign)) ? frame : undefined;
}

function beginsForeign(text: string, facts: ModelFacts): ForeignFrame | undefined {
  const { beginning, byStart, firstCharacters } = foreignForms(facts);
  if (!firstCharacters.has(trimmed(text).charAt(0))) return undefined;
  const begun = beginning?.exec(text) ?? undefined;
  if (begun === undefined) return undefined;
  const [head, marker] = begun;
  const form = marker === undefined ? undefined : byStart.get(marker);
  if (form === undefined) return undefined;
  const first = firstSign(text, form);
  const last = lastSign(text, form);
  if (first?.start !== head.length || first.kind !== 'opening' || last === undefined) return undefined;
  // A bare marker alone is also how people write about it.
  return first.role === undefined && first.start === last.start ? undefined : { form, first, last };
}

function endsForeign(text: string, facts: ModelFacts): ForeignFrame | undefined {
  const { pattern, byStart } = foreignForms(facts);
  const from = Math.max(0, text.trimEnd().length - endCharacters);
  const hit = [...text.slice(from).matchAll(pattern.pattern ?? /$^/g)].at(-1);
  if (hit === undefined || isInAnswer(text, facts)) return undefined;
  const forms = new Set(byStart.values());
  for (const form of forms) {
    const signs = signsOf(text, form);
    const first = signs.find(({ kind }) => kind === 'opening');
    const last = signs.at(-1);
    if (first === undefined || last?.start !== from + hit.index) continue;
    if (!opensAnswer(text, last, form)) continue;
    if (last.role !== undefined || first !== last) return { form, first, last };
  }
  return undefined;
}

/** Of a long conversation only the end is looked through for it. */
function lastSign(text: string, form: ForeignForm): TurnSign | undefined {
  const near = [...turnSigns(text, form, Math.max(0, text.length - lastCharacters))].at(-1);
  return near ?? signsOf(text, form).at(-1);
}

function signsOf(text: string, form: ForeignForm): TurnSign[] {
  return [...turnSigns(text, form)];
}

/**
 * True if the text ends with an opening of the answering side; or with the end of a question, where a form writes nothing
 * more (`[/INST]`). What closes an opening may be the model's to write (gpt-oss).
 */
function opensAnswer(text: string, last: TurnSign, { openings }: ForeignForm): boolean {
  const rest = text.slice(last.end, last.end + endCharacters).trim();
  if (rest === '' && last.kind === 'opening') return isAnswer(last);
  if (rest === '') return openings.every(({ start, named }) => !named && askingRole.test(start));
  return openings.some(({ start, named }) => {
    const name = named && rest.startsWith(start) ? rest.slice(start.length) : '';
    return /^\w+$/.test(name) && !askingRole.test(name);
  });
}

function isAnswer({ role, text }: TurnSign): boolean {
  return !askingRole.test(role ?? text);
}

/** True if the model's own template has opened an answer that the text ends in: whatever is in it, the client began it. */
function isInAnswer(text: string, facts: ModelFacts): boolean {
  const { generationPrompt, roleMarkers } = facts;
  const starts = [generationPrompt?.text, roleMarkers.find(({ role }) => role === 'assistant')?.opening];
  const places = starts.flatMap((start = '') =>
    start.trim() === '' ? [] : [text.lastIndexOf(start.trim())],
  );
  const at = Math.max(-1, ...places);
  return at >= 0 && !ownForms(facts).ends.some((end) => text.includes(end, at + 1));
}
