/**
 * Which raw prompts are plain text sent to an instruct model: no marker in them says how they are meant. Shared by the
 * kinds that say what such a text is, so that each prompt is one fault of one kind.
 */
import type { Exchange } from '../../exchange/exchange.ts';
import type { Marker, ModelFacts } from '../../exchange/model-facts.ts';
import type { RawPrompt } from '../../exchange/request/request.ts';
import { isScoring } from './scoring.ts';

/** Names by which publishers tell a base model from its instruct twin. */
const baseName = /(?:^|[-_. /])(?:base|pt|pretrain(?:ed)?)(?:$|[-_. /])/i;

/**
 * Some vocabularies have tokens of their own for the tags of markup (`<table>`, `</i>`), and an engine may take `</s>`
 * for a control token where the model file says that it is ordinary; plain text may hold them. No marker of a fill-in
 * prompt is written so.
 */
const markupTag = /^<\/?[a-z][a-z0-9]*>$/;

/** Longer texts fit into no usual context: the engine refuses them, and every marker would have to be looked for. */
const mostCharacters = 1024 * 1024;

export interface PlacedPrompt {
  readonly prompt: RawPrompt;
  readonly promptIndex: number;
}

/**
 * The prompts that an instruct model is to answer; [] for base models, chats and scoring. A template that the engine
 * brings along is no sign of an instruct model: base models' files have none.
 */
export function promptsToAnswer({ route, request, facts, modelKind }: Exchange): PlacedPrompt[] {
  if (route.kind !== 'completion' || request?.kind !== 'completion' || facts === undefined) return [];
  if (modelKind === 'base' || facts.roleMarkers.length === 0 || isScoring(request)) return [];
  if (modelKind === undefined && facts.templateOrigin !== undefined) return [];
  return request.prompts.map((prompt, promptIndex) => ({ prompt, promptIndex }));
}

/** True where only the name says that the model may be a base model whose file has a template. */
export function maybeBase({ facts, modelKind, modelName }: Exchange): boolean {
  return modelKind === undefined && (baseName.test(modelName) || baseName.test(facts?.modelPath ?? ''));
}

/**
 * The prompt's text, if there is some and no marker that says how it is meant is in it: BOS and EOS say nothing about
 * that, nor does a tag of markup. Ids other than BOS may be anything.
 */
export function plainText(
  prompt: RawPrompt,
  { markers, roleMarkers, bos, eos }: ModelFacts,
): string | undefined {
  if (prompt.form === 'ids' || prompt.form === 'media') return undefined;
  const items = prompt.form === 'text' ? [prompt.text] : prompt.items;
  if (items.some((item) => typeof item === 'number' && item !== bos?.id)) return undefined;
  const text = items.filter((item) => typeof item === 'string').join('');
  if (text.length > mostCharacters) return undefined;
  if (text.replaceAll(bos?.text ?? '\u0000', '').trim() === '') return undefined;
  const marks = [
    ...markers.filter((marker) => !saysNothing(marker, [bos, eos])).map(({ text: marker }) => marker),
    ...roleMarkers.map(({ opening }) => opening.trim()),
  ];
  return marks.some((mark) => mark.trim() !== '' && text.includes(mark)) ? undefined : text;
}

function saysNothing({ text }: Marker, ends: readonly (Marker | undefined)[]): boolean {
  return ends.some((end) => end?.text === text) || markupTag.test(text);
}
