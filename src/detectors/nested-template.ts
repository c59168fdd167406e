/**
 * Finds a conversation that was rendered before it was put into a message, or rendered twice into a raw prompt. Knows the
 * served model's own markers only; what isolated ones come to is another detector's.
 */
import { markerTokens, placeOfSecond, renderedOffset } from './causes/content-place.ts';
import { markedTexts, type MarkedText } from './causes/content-texts.ts';
import { ownForms } from './causes/turn-forms.ts';
import { turnSigns, type TurnSign, type TurnShape } from './causes/turn-signs.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest } from '../exchange/request/request.ts';
import type { KnownTokens } from '../exchange/token-read.ts';

const mostFindings = 16;

const apart = 'Send each turn as a message of its own and leave the markers to the template';
/** Of one with words in front of it: an answer that explains a template quotes what it writes, and the model reads turns. */
const shown =
  'Where the conversation is only shown, write a space into its markers: the model reads turns else.';

export const nestedTemplate: Detector = {
  kind: 'nested-template',
  summary: 'A conversation was rendered twice: the template was applied to text that already holds it.',
  stage: 'request',
  need: 'rendered',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const { request, facts, prompts } = exchange;
    if (request === undefined || facts === undefined) return [];
    if (request.kind === 'chat') {
      const findings: Finding[] = [];
      for (const one of markedTexts(exchange)) {
        findings.push(...inContent(exchange, request, facts, one));
        if (findings.length === mostFindings) break;
      }
      return findings;
    }
    return request.prompts.flatMap((prompt, promptIndex) => {
      const read = prompts[promptIndex];
      if (prompt.form !== 'text' || read?.known !== true) return [];
      return inRawPrompt(prompt.text, formatPath(prompt.path), promptIndex, read, facts);
    });
  },
};

function inContent(
  { prompts: [read] }: Exchange,
  request: ChatRequest,
  facts: ModelFacts,
  one: MarkedText,
): Finding[] {
  if (one.shape?.shape !== 'conversation' || read?.known !== true || read.text === undefined) return [];
  const { first, last } = one.shape;
  const marker = { at: first.start, marker: first.text };
  const at = renderedOffset(request, read.text, facts.roleMarkers, one, marker);
  if (at === undefined) return [];
  const field = formatPath(one.path);
  const isIntroduced = !isBlank(one.text.slice(0, first.start), ownForms(facts).frame);
  const tokens = request.hasMedia
    ? undefined
    : markerTokens(read, at, placeOfSecond(read.text, at, first, last));
  return [
    {
      kind: 'nested-template',
      cause: 'in-content',
      severity: 'error',
      culprit: 'client',
      promptIndex: 0,
      ...(tokens && { tokens }),
      field,
      characters: charactersOf(one.shape),
      message: `From character ${first.start} on ${field} is a rendered conversation: ${first.text} opens a turn inside the turn that the template writes around the message.`,
      advice: isIntroduced ? `${apart}. ${shown}` : `${apart}, or send the rendered text to the raw route.`,
    },
  ];
}

function inRawPrompt(
  text: string,
  field: string,
  promptIndex: number,
  read: KnownTokens,
  facts: ModelFacts,
): Finding[] {
  const doubled = doubledOpening(text, facts);
  if (doubled === undefined) return [];
  const [outer, inner] = doubled;
  const tokens = markerTokens(read, outer.start, inner.start);
  return [
    {
      kind: 'nested-template',
      cause: 'double-opening',
      severity: 'error',
      culprit: 'client',
      promptIndex,
      ...(tokens && { tokens }),
      field,
      characters: charactersOf({ first: outer, last: inner }),
      message: `At character ${inner.start} of ${field} ${inner.text} opens a turn inside the turn that was opened at character ${outer.start}: a rendered conversation stands in the place of a message.`,
      advice: 'Render the messages once: what is sent here has been through the template already.',
    },
  ];
}

function charactersOf({ first, last }: Pick<TurnShape, 'first' | 'last'>): { start: number; end: number } {
  return { start: first.start, end: last.end };
}

/**
 * Two openings with no end between them. An assistant's opening in the second place is a generation prompt behind a
 * turn that was left open; text between the two must not keep a turn of the same role from being seen.
 */
function doubledOpening(text: string, facts: ModelFacts): readonly [TurnSign, TurnSign] | undefined {
  const forms = ownForms(facts);
  const { frame, ends } = forms;
  const openingOf = (wanted: string): string | undefined =>
    facts.roleMarkers.find(({ role }) => role === wanted)?.opening.trim();
  const [assistant, instructions] = [openingOf('assistant'), openingOf('system')];
  let outer: TurnSign | undefined;
  for (const inner of turnSigns(text, forms)) {
    const before = outer;
    outer = inner;
    if (before?.kind !== 'opening' || inner.kind !== 'opening') continue;
    if (assistant !== undefined && text.startsWith(assistant, inner.start)) continue;
    const isSame = before.text === inner.text && before.role === inner.role;
    // Some templates write the head of the instructions, and no end of it, also where there are none.
    const isHead = instructions !== undefined && text.startsWith(instructions, before.start);
    if (isHead && !isSame && isBlank(text.slice(0, before.start), frame)) continue;
    const isAdjacent = isBlank(text.slice(before.end, inner.start), frame);
    const mayBeTurns = ends.length === 0 || inner.role === undefined;
    if (isAdjacent ? !mayBeTurns || isSame : isSame && !mayBeTurns) return [before, inner];
  }
  return undefined;
}

function isBlank(between: string, frame: ReadonlySet<string>): boolean {
  if (between.length > 200) return false;
  let rest = between;
  for (const marker of frame) rest = rest.replaceAll(marker, '');
  return rest.trim() === '';
}
