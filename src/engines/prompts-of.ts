/** Asks for each prompt of a request by itself: what goes wrong with one must not take the others along. */
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest, GenerationRequest, RawPrompt } from '../exchange/request/request.ts';
import { unknown, type Unknown } from '../exchange/token-read.ts';

import type { AskContext } from './engine.ts';
import { OracleFailure } from './oracle/oracle-failure.ts';
import type { TextReading } from './text-reading.ts';

/** What every reading of prompts is made of; an engine's own adds whom it asks. */
export interface AskedPrompts {
  readonly request: GenerationRequest;
  readonly facts: ModelFacts;
  readonly context: AskContext;
  readonly texts: TextReading;
}

export interface PromptQuestions<Read> {
  readonly chat: (request: ChatRequest) => Read | Promise<Read>;
  readonly raw: (prompt: RawPrompt) => Read | Promise<Read>;
}

/** @returns what is known by prompt index; never rejects */
export async function promptsOf<Read>(
  request: GenerationRequest,
  { chat, raw }: PromptQuestions<Read>,
): Promise<readonly (Read | Unknown)[]> {
  if (request.kind === 'chat') return [await orUnknownPrompt(async () => chat(request))];
  return inTurn(request.prompts, (prompt) => orUnknownPrompt(async () => raw(prompt)));
}

/**
 * A question's deadline begins when it is asked: of thousands at once the last would be late by the number of the others,
 * which reads as an engine that does not answer, and whoever else has a question would stand behind them.
 */
const mostAtOnce = 16;

async function inTurn<Item, Result>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  // Each takes the next one from the same iterator.
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await ask(item);
  };
  await Promise.all(Array.from({ length: mostAtOnce }, work));
  return results;
}

async function orUnknownPrompt<Read>(read: () => Promise<Read>): Promise<Read | Unknown> {
  try {
    return await read();
  } catch (error) {
    return error instanceof OracleFailure ? error.unknown : unknown('inspection-failed');
  }
}
