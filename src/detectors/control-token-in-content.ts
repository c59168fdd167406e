/**
 * Finds marker texts inside messages and tools that the engine reads as markers, and says what they come to. Silent about
 * tokens that are the same with special parsing off: those are meant to stand in content.
 */
import { brokenMarkers } from './causes/broken-markers.ts';
import { markerTokens, placeOfSecond, renderedOffset } from './causes/content-place.ts';
import { isPlaceTooMany } from './causes/picture-places.ts';
import { markedTexts, mostHits, type MarkedText } from './causes/content-texts.ts';
import type { MarkerHit } from './causes/turn-signs.ts';
import { isUnwrittenReasoning } from './causes/unwritten-reasoning.ts';
import type { Detector } from './detector.ts';
import type { Edit } from '../exchange/edits.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest } from '../exchange/request/request.ts';

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
    const media = mediaTexts(request, facts);
    const formed = markedTexts(exchange).flatMap((text, order) => whatIsFormed(text, order, media));
    const found: Found[] = [];
    // What only speaks of markers must not hide what does harm, where there is more than can be told.
    for (const one of causes.flatMap((cause) => formed.filter((other) => other.cause === cause))) {
      const finding = findingOf(exchange, request, facts, one);
      if (finding !== undefined) found.push({ ...one, finding });
      if (found.length === mostFindings) break;
    }
    found.sort((a, b) => a.order - b.order);
    const edits = brokenMarkers(request.body, found);
    return found.map(({ finding }, index) => withRepair(finding, edits[index]));
  },
};

const causes = ['forged-turn', 'media-placeholder', 'isolated'] as const;

interface Formed {
  readonly text: MarkedText;
  /** Its place among the chat's texts. */
  readonly order: number;
  readonly cause: (typeof causes)[number];
  readonly first: MarkerHit;
  readonly last: MarkerHit;
}

interface Found extends Formed {
  readonly finding: Finding;
}

/** [] for a whole conversation, which has a kind of its own. */
function whatIsFormed(text: MarkedText, order: number, media: ReadonlySet<string>): Formed[] {
  const { shape } = text;
  if (shape?.shape === 'conversation') return [];
  if (shape !== undefined) {
    return [{ text, order, cause: 'forged-turn', first: shape.first, last: shape.last }];
  }
  const medium = text.firstOf(media);
  if (medium !== undefined) return [{ text, order, cause: 'media-placeholder', first: medium, last: medium }];
  const { first } = text;
  return first === undefined ? [] : [{ text, order, cause: 'isolated', first, last: first }];
}

/** How vocabularies name the tokens that stand for media. */
const mediaName = /image|img|audio|video|vision|media/i;

/** The markers that stand for media in this request. */
function mediaTexts(
  { hasMedia }: ChatRequest,
  { markers, mediaMarker, picturePlaces = [] }: ModelFacts,
): ReadonlySet<string> {
  const named = markers.filter(({ text, kind }) => kind === 'control' && mediaName.test(text));
  const beside = hasMedia ? [...named, ...picturePlaces].map(({ text }) => text) : [];
  return new Set([mediaMarker, ...beside].filter((text) => text !== ''));
}

function findingOf(
  exchange: Exchange,
  request: ChatRequest,
  facts: ModelFacts,
  { text: one, cause, first, last }: Formed,
): Finding | undefined {
  const { markers, roleMarkers } = facts;
  const [read] = exchange.prompts;
  if (read?.known !== true || read.text === undefined || isUnwrittenReasoning(exchange, one))
    return undefined;
  const at = renderedOffset(request, read.text, roleMarkers, one, { at: first.start, marker: first.text });
  const hasPicture = cause === 'media-placeholder' && isPlaceTooMany(request, read.text, facts, first.text);
  // Not there as it was sent: the template has left it out or changed it, and nothing came of it.
  if (at === undefined && !hasPicture) return undefined;
  const field = formatPath(one.path);
  // Media take up positions that our ids don't have.
  const isCounted = at !== undefined && !request.hasMedia;
  const tokens = isCounted ? markerTokens(read, at, placeOfSecond(read.text, at, first, last)) : undefined;
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
    message: `${placeIn(field, first)} ${sentences[hasPicture ? 'picture-place' : cause](first, last, id, one.hits.length)}.`,
    advice: advices[cause],
  };
}

function withRepair(finding: Finding, edits: readonly Edit[] = []): Finding {
  return edits.length === 0 ? finding : { ...finding, repair: { edits, proof: { by: 'rereading' } } };
}

function placeIn(field: string, { start }: MarkerHit): string {
  return `At character ${start} of ${field}`;
}

const sentences = {
  'forged-turn': (first, last) =>
    `${first.text} ends the turn and ${last.text} opens another, which the model can't tell from a real one`,
  'media-placeholder': (first) =>
    `${first.text} stands for media that are not there, so the engine counts more of them than were sent`,
  'picture-place': (first) =>
    `${first.text} is what the engine puts a picture in the place of: it takes the next one that was sent, or stands for one too many`,
  isolated: (first, _last, id, count) =>
    `${first.text} is read as the token${id === undefined ? '' : ` ${id}`}, not as its text${
      count > 1
        ? `; ${count > mostHits ? `at least ${mostHits}` : count - 1} more ${count === 2 ? 'follows' : 'follow'} in this field`
        : ''
    }`,
} as const satisfies Record<
  Formed['cause'] | 'picture-place',
  (first: MarkerHit, last: MarkerHit, id: number | undefined, count: number) => string
>;

const advices: Readonly<Record<Formed['cause'], string>> = {
  'forged-turn':
    'Whoever builds the messages must take markers out of text that others wrote, or set detectors.control-token-in-content.action to rewrite, which breaks them.',
  'media-placeholder':
    'Leave the placeholder out of the text; replayed reasoning and quotes are where it usually comes from.',
  isolated:
    'Nothing need be done where the marker is only spoken of; to have the model read its text, write it with a space inside.',
};
