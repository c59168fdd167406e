/**
 * What a recording holds of a reply: counts, how it ended, where turns began in it. Never a word of it, nor the ids that
 * were generated. What is left is a reply to every detector. Types, shapes, and the way in; opens no file.
 */
import { flag, listOf, object, oneOf, optional, text, wholeNumber, type Shape } from '../json/json-shape.ts';
import {
  finishReasons,
  unreadReasons,
  type ChoiceReply,
  type ContextRefusal,
  type Reply,
} from '../reply/reply.ts';
import type { TokenRead } from '../token-read.ts';
import { turnForms } from '../written/turn-marks.ts';
import type { TurnSighting, TurnSightings } from '../written/turn-scan.ts';

export interface RecordedReply extends Omit<Reply, 'choices'> {
  readonly choices: readonly RecordedChoice[];
}

/** `promptIds`, the engine's account of the prompt, is there only where it is another than ours. */
export type RecordedChoice = Omit<ChoiceReply, 'generatedIds' | 'prefillTokensPerSecond'>;

type MembersOf<Type> = Readonly<Record<keyof Type, Shape>>;

const refusal = object({
  promptTokens: optional(wholeNumber),
  answerTokens: optional(wholeNumber),
  contextTokens: optional(wholeNumber),
} satisfies MembersOf<ContextRefusal>);

const sighting = object({
  role: text,
  form: oneOf(turnForms),
  at: wholeNumber,
  words: wholeNumber,
} satisfies MembersOf<TurnSighting>);

const turns = object({
  seen: listOf(sighting),
  wordsAfter: wholeNumber,
} satisfies MembersOf<TurnSightings>);

const choice = object({
  index: wholeNumber,
  finishReason: optional(oneOf(finishReasons)),
  promptTokens: optional(wholeNumber),
  cachedTokens: optional(wholeNumber),
  completionTokens: optional(wholeNumber),
  promptIds: optional(listOf(wholeNumber)),
  toolArgumentsValid: optional(flag),
  hasAnswerText: flag,
  hasReasoning: flag,
  hasToolCalls: flag,
  turns: optional(turns),
} satisfies MembersOf<RecordedChoice>);

export const replyShape = object({
  status: wholeNumber,
  started: flag,
  complete: flag,
  unreadReason: optional(oneOf(unreadReasons)),
  refusal: optional(refusal),
  choices: listOf(choice),
} satisfies MembersOf<RecordedReply>);

/** @param choicesPerPrompt as the request asks for them */
export function recordReply(
  { choices, ...reply }: Reply,
  prompts: readonly TokenRead[],
  choicesPerPrompt: number,
): RecordedReply {
  return {
    ...reply,
    choices: choices.map(({ generatedIds: _, prefillTokensPerSecond: _rate, promptIds, ...one }) => {
      const read = prompts[Math.floor(one.index / choicesPerPrompt)];
      const isOther = read?.known === true && promptIds?.some((id, at) => read.ids[at] !== id) === true;
      return { ...one, ...(isOther && { promptIds }) };
    }),
  };
}
