/**
 * What shows in a reply that the generation ran past the end of the model's turn: the beginnings of turns, as the template
 * writes them or as the prompt itself shapes them. Taken from facts and from the prompt, never from a family's name.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import type { ModelFacts, RoleMarker } from '../model-facts.ts';
import type { GenerationRequest, Json } from '../request/request.ts';

export const turnForms = ['marker', 'header', 'line'] as const;
/**
 * `marker`: the template's whole opening of a turn. `header`: what is left of it where the engine shows no control tokens.
 * `line`: the beginning of a line with which the prompt, a text, begins its turns.
 */
export type TurnForm = (typeof turnForms)[number];

/** A text to look for in a reply. */
export interface TurnMark {
  /** Whose turn it begins; '' where the prompt's own shape says no role. */
  readonly role: string;
  readonly form: TurnForm;
  readonly text: string;
}

/** [] if nothing can be told: no facts that help, or a request that has the engine run on or repeat the prompt. */
export function turnMarksOf(request: GenerationRequest, facts: ModelFacts): readonly TurnMark[] {
  if (wantsMore(request)) return [];
  const marks = openingsOf(facts).flatMap((marker) => marksOf(marker, facts, request));
  const own = request.kind === 'completion' && request.prompts.length === 1 ? request.prompts[0] : undefined;
  const line = own?.form === 'text' ? lineBeforeOpenOne(own.text) : undefined;
  const all = line === undefined ? marks : [...marks, { role: '', form: 'line' as const, text: line }];
  return all.filter(({ text }, index) => all.findIndex((other) => other.text === text) === index);
}

/** Ids that begin a turn and stand in no reply that ends where it should. */
export function turnOpenerIds(request: GenerationRequest, facts: ModelFacts): ReadonlySet<number> {
  if (wantsMore(request)) return new Set();
  const openings = openingsOf(facts);
  // Where the model opens turns of its own within a reply, the opening alone says nothing.
  if (facts.roleMarkers.some(({ role }) => role === 'assistant') !== hasRole(openings, 'assistant')) {
    return new Set();
  }
  return new Set(
    openings.flatMap(({ opening }) =>
      facts.markers.filter(({ text }) => opening.startsWith(text)).map(({ id }) => id),
    ),
  );
}

/** The end of turns is the client's to ignore, and then whatever follows is what it asked for. */
function wantsMore({ json }: GenerationRequest): boolean {
  const { echo, ignore_eos: ignoresEnd, min_tokens: least } = json;
  return echo === true || ignoresEnd === true || (typeof least === 'number' && least > 0);
}

/**
 * An assistant's opening counts only if it is all that the generation prompt writes: some templates let the model open
 * parts of its own turn, and those look alike.
 */
function openingsOf({ roleMarkers, generationPrompt }: ModelFacts): RoleMarker[] {
  return roleMarkers.filter(
    ({ role, opening }) =>
      role !== 'assistant' || generationPrompt?.text.startsWith(opening.trimEnd()) === true,
  );
}

function hasRole(markers: readonly RoleMarker[], role: string): boolean {
  return markers.some((marker) => marker.role === role);
}

function marksOf({ role, opening }: RoleMarker, facts: ModelFacts, request: GenerationRequest): TurnMark[] {
  const own = facts.markers.filter(({ text }) => opening.includes(text)).map(({ text }) => text);
  const text = opening.trimEnd();
  if (own.length === 0) {
    return /\w.*[:#\]]$/.test(text) && !speaksOf(request, text) ? [{ role, form: 'line', text }] : [];
  }
  if (own.some((marker) => speaksOf(request, marker))) return [];
  const header = own.reduce((rest, marker) => rest.replaceAll(marker, ''), opening).trimStart();
  const isHeader = /^[a-z_]{2,20}\n+$/i.test(header) && !speaksOf(request, header);
  return [
    { role, form: 'marker', text },
    ...(isHeader ? [{ role, form: 'header' as const, text: header }] : []),
  ];
}

/** Who writes of markers, or in the shape of turns, is answered in kind. What the model itself wrote is no such wish. */
function speaksOf(request: GenerationRequest, text: string): boolean {
  if (request.kind !== 'chat') return false;
  return request.messages.some(({ role, value }) => role !== 'assistant' && holds(value['content'], text));
}

function holds(value: Json | undefined, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (isArray(value)) return value.some((item) => holds(item, text));
  return isObject(value) && Object.values(value).some((item) => holds(item, text));
}

/** Beginnings of lines that speakers are told by: `User:`, `### Instruction:`, `<|im_start|>user`. */
const speaker = String.raw`(?:#{1,4} ?)?\p{Lu}[\p{L}\p{N}_-]{0,19}(?: [\p{L}\p{N}_-]{1,20})?:|<\|[\w-]{1,30}\|>[a-z]{0,12}`;
const beginsLine = new RegExp(`^(?:${speaker})`, 'gmu');
const isOpenLine = new RegExp(`^(?:${speaker})$`, 'u');
/** Where a prompt's turns begin shows at its end. */
const mostPromptCharacters = 65_536;

/** Of a prompt that ends with a speaker's open line: how the other speaker's line before it begins. */
function lineBeforeOpenOne(prompt: string): string | undefined {
  const text = prompt.slice(-mostPromptCharacters).trimEnd();
  const open = text.slice(text.lastIndexOf('\n') + 1);
  if (!isOpenLine.test(open)) return undefined;
  const isLike = (line: string): boolean => shapeOf(line) === shapeOf(open) && line !== open;
  return [...text.matchAll(beginsLine)].map(([line]) => line).findLast(isLike);
}

function shapeOf(line: string): string {
  return line.startsWith('<') ? '<' : line.startsWith('#') ? '#' : ':';
}
