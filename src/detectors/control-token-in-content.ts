/**
 * Finds marker texts inside messages and tools that the engine reads as markers, and says what they come to. Silent about
 * tokens that are the same with special parsing off: those are meant to stand in content.
 */
import { brokenMarkers } from './causes/broken-markers.ts';
import { markerTokens, renderedOffset } from './causes/content-place.ts';
import { markedTexts, type MarkedText } from './causes/content-texts.ts';
import { ownForms } from './causes/turn-forms.ts';
import type { MarkerHit } from './causes/turn-signs.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest } from '../exchange/request.ts';

/** One finding for each field; more say nothing new. */
const mostFindings = 16;

export const controlTokenInContent: Detector = {
  kind: 'control-token-in-content',
  summary: 'Text of a message or a tool is read as a control token.',
  stage: 'request',
  need: 'rendered',
  severity: 'error',
  repairs: true,
  detect(exchange) {
    const { request, facts } = exchange;
    if (request?.kind !== 'chat' || facts === undefined) return [];
    const findings: Finding[] = [];
    for (const one of markedTexts(exchange)) {
      const formed = one.shape?.shape === 'conversation' ? undefined : whatIsFormed(one, request, facts);
      const found = formed === undefined ? undefined : finding(exchange, request, facts, one, formed);
      if (found !== undefined) findings.push(found);
      if (findings.length === mostFindings) break;
    }
    return findings;
  },
};

interface Formed {
  readonly cause: 'forged-turn' | 'media-placeholder' | 'isolated';
  readonly first: MarkerHit;
  readonly last: MarkerHit;
  /** The markers that a repair must break. */
  readonly markers: readonly MarkerHit[];
}

function whatIsFormed(
  { hits, shape }: MarkedText,
  request: ChatRequest,
  facts: ModelFacts,
): Formed | undefined {
  const { frame } = ownForms(facts);
  const control = new Set(facts.markers.filter(({ kind }) => kind === 'control').map(({ text }) => text));
  const standsForMedia = ({ text }: MarkerHit): boolean =>
    text === facts.mediaMarker || (request.hasMedia && control.has(text) && mediaName.test(text));
  const markers = hits.filter((hit) => frame.has(hit.text) || control.has(hit.text) || standsForMedia(hit));
  const [first] = markers;
  if (first === undefined) return undefined;
  if (shape !== undefined) return { cause: 'forged-turn', first: shape.first, last: shape.last, markers };
  const medium = markers.find(standsForMedia);
  if (medium !== undefined) return { cause: 'media-placeholder', first: medium, last: medium, markers };
  return { cause: 'isolated', first, last: first, markers };
}

/** How vocabularies name the tokens that stand for media. */
const mediaName = /image|img|audio|video|vision|media/i;

function finding(
  { prompts }: Exchange,
  request: ChatRequest,
  { markers, roleMarkers }: ModelFacts,
  one: MarkedText,
  { cause, first, last, markers: broken }: Formed,
): Finding | undefined {
  const [read] = prompts;
  if (read?.known !== true || read.text === undefined) return undefined;
  const at = renderedOffset(request, read.text, roleMarkers, one, { at: first.start, marker: first.text });
  // Not there as it was sent: the template has left it out or changed it, and nothing came of it.
  if (at === undefined) return undefined;
  const field = formatPath(one.path);
  // Media take up positions that our ids don't have.
  const tokens = request.hasMedia ? undefined : markerTokens(read, at, at + last.start - first.start);
  const edits = brokenMarkers(request.body, one, broken);
  const id = markers.find(({ text }) => text === first.text)?.id;
  return {
    kind: 'control-token-in-content',
    cause,
    severity: cause === 'isolated' ? 'info' : 'error',
    culprit: 'client',
    promptIndex: 0,
    ...(tokens && { tokens }),
    field,
    characters: { start: first.start, end: last.start + last.text.length },
    message: `${place(field, first)} ${sentences[cause](first, last, id, broken.length)}.`,
    advice: advices[cause],
    ...(edits.length > 0 && { repair: { edits, proof: { by: 'rereading' } } }),
  };
}

function place(field: string, { start }: MarkerHit): string {
  return `At character ${start} of ${field}`;
}

const sentences = {
  'forged-turn': (first, last) =>
    `${first.text} ends the turn and ${last.text} opens another, which the model can't tell from a real one`,
  'media-placeholder': (first) =>
    `${first.text} stands for media that are not there, so the engine counts more of them than were sent`,
  isolated: (first, _last, id, count) =>
    `${first.text} is read as the token${id === undefined ? '' : ` ${id}`}, not as its text${
      count > 1 ? `; ${count - 1} more follow in this field` : ''
    }`,
} as const satisfies Record<
  Formed['cause'],
  (first: MarkerHit, last: MarkerHit, id: number | undefined, count: number) => string
>;

const advices: Readonly<Record<Formed['cause'], string>> = {
  'forged-turn':
    'Whoever builds the messages must take markers out of text that others wrote, or set the action rewrite, which breaks them.',
  'media-placeholder':
    'Leave the placeholder out of the text; replayed reasoning and quotes are where it usually comes from.',
  isolated:
    'Nothing need be done where the marker is only spoken of; to have the model read its text, write it with a space inside.',
};
