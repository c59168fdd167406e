/**
 * Finds replies in which the generation ran past the end of the model's turn: a turn begins in them. Silent where the
 * conversation itself speaks of markers, in code blocks, and where the client asked for more than an answer.
 */
import { counted } from '../exchange/counted.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Culprit, Finding } from '../exchange/finding.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChoiceReply } from '../exchange/reply/reply.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';
import { turnOpenerIds } from '../exchange/written/turn-marks.ts';
import type { TurnSighting, TurnSightings } from '../exchange/written/turn-scan.ts';

/** Fewer words between two headers are a list of roles rather than a turn. */
const fewestWords = 3;

interface Runaway {
  readonly cause: 'role-marker' | 'role-header' | 'next-turn';
  /** Where and what, as a part of the message's sentence. */
  readonly what: string;
}

export const runawayReply: Detector = {
  kind: 'runaway-reply',
  summary: "The generation ran past the end of the model's turn: the reply holds the beginning of another.",
  stage: 'reply',
  need: 'reply',
  severity: 'warning',
  repairs: false,
  detect(exchange) {
    const { request, facts, reply } = exchange;
    if (request === undefined || facts === undefined || reply === undefined) return [];
    const openers = turnOpenerIds(request, facts);
    return reply.choices.flatMap((choice) => {
      const open = endsWithGenerationPrompt(exchange, Math.floor(choice.index / request.choices));
      const runaway = byIds(choice, openers, facts) ?? (choice.turns && byText(choice.turns, facts, open));
      return runaway === undefined ? [] : [finding(runaway, choice.index, exchange, request, facts, open)];
    });
  },
};

/** A control token that was generated is one; no answer spells it. */
function byIds(
  { generatedIds = [] }: ChoiceReply,
  openers: ReadonlySet<number>,
  { markers }: ModelFacts,
): Runaway | undefined {
  const at = generatedIds.findIndex((id) => openers.has(id));
  if (at === -1) return undefined;
  const text = markers.find(({ id }) => id === generatedIds[at])?.text ?? '';
  return { cause: 'role-marker', what: `generated ${JSON.stringify(text)} as its token ${at}` };
}

function byText({ seen, wordsAfter }: TurnSightings, facts: ModelFacts, open: boolean): Runaway | undefined {
  const marker = seen.find(({ form }) => form === 'marker');
  if (marker !== undefined) {
    const opening = facts.roleMarkers.find(({ role }) => role === marker.role)?.opening ?? '';
    return {
      cause: 'role-marker',
      what: `holds ${JSON.stringify(opening)} after ${counted(marker.at, 'character')}`,
    };
  }
  const header = seen.find(
    (one, index) => one.form === 'header' && beginsTurn(seen, index, wordsAfter, open),
  );
  if (header !== undefined) {
    const what = `holds the header of a turn of the ${header.role} after ${counted(header.at, 'character')}`;
    return { cause: 'role-header', what };
  }
  const line = seen.find(({ form, at }) => form === 'line' && at > 0);
  if (line === undefined) return undefined;
  const whose = line.role === '' ? 'the other speaker in the prompt' : `the ${line.role}`;
  return {
    cause: 'next-turn',
    what: `begins a line as ${whose} does after ${counted(line.at, 'character')}`,
  };
}

/** A role's name alone on a line may be anything; a question and its answer under two of them are turns. */
function beginsTurn(
  seen: readonly TurnSighting[],
  index: number,
  wordsAfter: number,
  open: boolean,
): boolean {
  const [one, next] = [seen[index], seen[index + 1]];
  if (one === undefined) return false;
  // Nothing in front of the model's turn said whose it is, so it said so itself.
  if (one.role === 'assistant' && one.at === 0 && !open) return (next?.words ?? wordsAfter) >= fewestWords;
  if (next?.form !== 'header' || next.role !== 'assistant') return false;
  const answer = seen[index + 2]?.words ?? wordsAfter;
  return next.words >= fewestWords && answer >= fewestWords;
}

/** True also where the end is not known: then nothing is made of it. */
function endsWithGenerationPrompt({ prompts, facts, route }: Exchange, promptIndex: number): boolean {
  const read = prompts[promptIndex];
  const tail = facts?.generationPrompt;
  if (read?.known !== true || tail === undefined || route.kind !== 'completion') return true;
  return tail.ids.every((id, index) => read.ids[read.ids.length - tail.ids.length + index] === id);
}

function finding(
  { cause, what }: Runaway,
  index: number,
  { modelKind }: Exchange,
  request: GenerationRequest,
  facts: ModelFacts,
  open: boolean,
): Finding {
  const isBase = modelKind === 'base' || facts.roleMarkers.length === 0;
  const isText = cause === 'next-turn' || !open;
  const culprit: Culprit = isText ? 'client' : 'model-file';
  const eos = facts.eos && `its EOS, ${JSON.stringify(facts.eos.text)},`;
  const stop = request.kind === 'chat' && request.dialect === 'anthropic' ? 'stop_sequences' : 'stop';
  return {
    kind: 'runaway-reply',
    cause,
    severity: isBase ? 'info' : 'warning',
    culprit,
    promptIndex: index,
    message: `The reply ${what}, so the generation did not stop at the end of the model's turn.`,
    advice: isText
      ? `Set ${stop} to what begins the next turn, or send the messages to the chat route, whose prompts end with the beginning of the model's turn.`
      : `Check that ${eos ?? 'its EOS'} is the token with which the model ends its turns: a model file or a configuration with another one never stops; until it is corrected, set ${stop} to what begins the next turn.`,
  };
}
