/**
 * Finds plain text sent to an instruct model's raw route. Silent wherever such text can be meant: base models, fill-in
 * prompts, scoring, ids, and anything that holds a marker which says how it is meant.
 */
import { isScoring } from './causes/scoring.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json-path.ts';
import type { Marker, ModelFacts } from '../exchange/model-facts.ts';
import type { RawPrompt } from '../exchange/request.ts';

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

/** As many as the opening of a turn takes, BOS before it included. */
const headTokens = 4;

export const rawPrompt: Detector = {
  kind: 'raw-prompt',
  summary: 'A raw route got plain text, without the role markers that an instruct model was trained on.',
  stage: 'request',
  need: 'head',
  severity: 'warning',
  repairs: false,
  detect(exchange) {
    const { route, request, facts, modelKind, modelName } = exchange;
    if (route.kind !== 'completion' || request?.kind !== 'completion' || facts === undefined) return [];
    if (modelKind === 'base' || facts.roleMarkers.length === 0 || isScoring(request)) return [];
    const maybeBase = modelKind === undefined && (baseName.test(modelName) || baseName.test(facts.modelPath));
    return request.prompts.flatMap((prompt, promptIndex) =>
      isPlain(prompt, facts)
        ? [{ ...finding(prompt, promptIndex, facts, maybeBase), ...placeOf(exchange, promptIndex) }]
        : [],
    );
  },
};

/**
 * True if the prompt is text, there is some, and no marker that says how it is meant is in it: BOS and EOS say nothing
 * about that, nor does a tag of markup. Ids other than BOS may be anything.
 */
function isPlain(prompt: RawPrompt, { markers, roleMarkers, bos, eos }: ModelFacts): boolean {
  if (prompt.form === 'ids' || prompt.form === 'media') return false;
  const items = prompt.form === 'text' ? [prompt.text] : prompt.items;
  if (items.some((item) => typeof item === 'number' && item !== bos?.id)) return false;
  const text = items.filter((item) => typeof item === 'string').join('');
  if (text.length > mostCharacters) return false;
  if (text.replaceAll(bos?.text ?? '\u0000', '').trim() === '') return false;
  const marks = [
    ...markers.filter((marker) => !saysNothing(marker, [bos, eos])).map(({ text: marker }) => marker),
    ...roleMarkers.map(({ opening }) => opening.trim()),
  ];
  return !marks.some((mark) => mark.trim() !== '' && text.includes(mark));
}

/** The ids where the opening of a turn would stand; nothing where none of them is known. */
function placeOf({ heads, prompts }: Exchange, promptIndex: number): Pick<Finding, 'tokens'> {
  const read = [prompts[promptIndex], heads[promptIndex]].find((one) => one?.known === true);
  const known = read?.known === true ? read.ids.length : 0;
  return known === 0 ? {} : { tokens: { start: 0, end: Math.min(known, headTokens) } };
}

function saysNothing({ text }: Marker, ends: readonly (Marker | undefined)[]): boolean {
  return ends.some((end) => end?.text === text) || markupTag.test(text);
}

function finding(
  prompt: RawPrompt,
  promptIndex: number,
  { roleMarkers }: ModelFacts,
  maybeBase: boolean,
): Finding {
  const opening = JSON.stringify(
    (roleMarkers.find(({ role }) => role === 'user') ?? roleMarkers[0])?.opening,
  );
  return {
    kind: 'raw-prompt',
    cause: maybeBase ? 'maybe-base' : 'plain-text',
    severity: maybeBase ? 'info' : 'warning',
    culprit: 'client',
    promptIndex,
    field: formatPath(prompt.path),
    message: `The prompt holds none of the model's role markers (a user's turn opens with ${opening}), so the model continues a text instead of answering.`,
    advice: maybeBase
      ? 'The name says that this may be a base model: set models.<name>.kind to base to end this finding, or to instruct to make it a warning.'
      : 'Send the messages to the chat route, which applies the template, or render the template before sending; for a base model set models.<name>.kind to base.',
  };
}
