/** Compares the engine's own prompt counts with the ids that were read. Compares; accuses nobody. */
import type { Exchange } from '../exchange/exchange.ts';

export interface CountDifference {
  readonly promptIndex: number;
  /** Prompt tokens by the engine's account. */
  readonly told: number;
  /** Length of the ids that were read. */
  readonly known: number;
}

/** `absent`: nothing could be compared; `partial`: all that could be compared agreed, but some prompts could not. */
export type CountCheck =
  | { readonly result: 'match' | 'absent' | 'partial' }
  | { readonly result: 'mismatch'; readonly differences: readonly CountDifference[] };

/**
 * A prompt counts as compared if any of its choices tells a count. Media have positions of their own in the engine's
 * count, so a prompt with media can't be compared: it is unknown, not a mismatch.
 */
export function checkCounts({ request, prompts, reply }: Exchange): CountCheck {
  if (request === undefined || reply === undefined || reply.status >= 400) return { result: 'absent' };
  if (request.kind === 'chat' && request.hasMedia) return { result: 'absent' };
  const differences: CountDifference[] = [];
  let compared = 0;
  for (const [promptIndex, read] of prompts.entries()) {
    const told = reply.choices.find(
      ({ index, promptTokens }) =>
        promptTokens !== undefined && Math.floor(index / request.choices) === promptIndex,
    )?.promptTokens;
    if (!read.known || told === undefined) continue;
    compared += 1;
    if (told !== read.ids.length) differences.push({ promptIndex, told, known: read.ids.length });
  }
  if (differences.length > 0) return { result: 'mismatch', differences };
  if (compared === 0) return { result: 'absent' };
  return { result: compared === prompts.length ? 'match' : 'partial' };
}
