/**
 * Whether a break comes from reasoning that the template wrote into the ancestor's prompt and leaves out now, as many do
 * once the user asks again. The client sent the same in both.
 */
import { lostReasoning, type LostReasoning } from '../../exchange/written/lost-reasoning.ts';
import { seenWriting } from '../../exchange/written/form-writing.ts';
import type { ModelFacts, TemplateReading } from '../../exchange/model-facts.ts';
import { placeTexts } from '../../exchange/written/placed-texts.ts';
import { isReasoning, promptParts } from '../../exchange/written/prompt-parts.ts';
import type { ChatRequest, GenerationRequest } from '../../exchange/request/request.ts';
import type { SessionMatch, Turn } from '../../exchange/session-match.ts';
import { instructs } from '../../exchange/request/system-text.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';
import { breakRange, type TextRange } from './rendered-place.ts';

/** Undefined where the ids part elsewhere, or where it is not known what the ancestor's prompt held. */
export function droppedReasoning(
  { digest, commonMessages }: SessionMatch,
  ancestor: Turn,
  request: GenerationRequest,
  tokens: KnownTokens,
  position: number,
  reading: TemplateReading | undefined,
): LostReasoning | undefined {
  const { text } = tokens;
  const before = ancestor.lostReasoning;
  if (request.kind !== 'chat' || text === undefined || before === undefined) return undefined;
  // Other template arguments may be what switched it off.
  if (digest === undefined || digest.options !== ancestor.digest?.options) return undefined;
  const range = breakRange(tokens, position);
  if (range === undefined) return undefined;
  const gone = lostReasoning(request, text, reading).filter(
    ({ turn }) => turn < commonMessages && !before.includes(turn),
  );
  if (gone.length === 0) return undefined;
  const placeOf = reasoningPlaces(request, text, reading);
  return gone.find(({ message }) => {
    const place = placeOf(message);
    return place.start <= range.end && place.end >= range.start;
  });
}

/**
 * True where the ids part at the beginning of a think block that the earlier prompt held, of an answer whose reasoning the
 * client did not send: some templates write such a block empty until the user asks again, as they do with a full one.
 */
export function dropsEmptyThink(
  { digest, commonMessages }: SessionMatch,
  ancestor: Turn,
  facts: ModelFacts | undefined,
  position: number,
): boolean {
  const dropped = facts?.reading?.dropped ?? [];
  if (facts === undefined || !dropped.includes('reasoning') || dropped.includes('loop-reasoning'))
    return false;
  const asksAgain = (digest?.roles.lastIndexOf('user') ?? -1) >= commonMessages;
  const opening = facts.roleMarkers.find(({ role }) => role === 'assistant')?.opening;
  const answer = (facts.generationPrompt?.text ?? '') + (facts.thinkTail?.text ?? '');
  if (!asksAgain || opening === undefined || !answer.startsWith(opening)) return false;
  const begun = answer.slice(opening.length).trimStart();
  const think = facts.markers.find(({ text }) => begun.startsWith(text));
  return think !== undefined && ancestor.ids[position] === think.id;
}

/** For a message, where its reasoning would stand: between the texts before it and what follows it. */
function reasoningPlaces(
  request: ChatRequest,
  text: string,
  reading: TemplateReading | undefined,
): (message: number) => TextRange {
  // Some templates move instructions behind what follows them.
  const inTurns = placeTexts(promptParts(request), text, seenWriting(reading)).texts.flatMap(
    ({ message, part, place }) => {
      const given = request.messages[message];
      return place === undefined || given === undefined || instructs(given) || isReasoning(part.sort)
        ? []
        : [{ message, ...place }];
    },
  );
  return (message) => {
    let start = 0;
    let end = text.length;
    for (const one of inTurns) {
      if (one.message < message) start = Math.max(start, one.end);
      else end = Math.min(end, one.start);
    }
    return { start, end };
  };
}
