/** Compares the engine's own prompt counts with the ids that were read. Compares; accuses nobody. */
import type { Exchange } from '../exchange/exchange.ts';
import { bringsMedia } from '../exchange/request/media-parts.ts';
import type { Reply } from '../exchange/reply/reply.ts';

export interface CountDifference {
  readonly promptIndex: number;
  /** Prompt tokens by the engine's account; equal to `known` if only the ids differ. */
  readonly told: number;
  /** Length of the ids that were read. */
  readonly known: number;
  /** So many fewer that tokens must have been left out: no other reading of the same text explains it. */
  readonly truncated: boolean;
}

/** `absent`: nothing could be compared; `partial`: all that could be compared agreed, but some prompts could not. */
export type CountCheck =
  | { readonly result: 'match' | 'absent' | 'partial' }
  | { readonly result: 'mismatch'; readonly differences: readonly CountDifference[] };

/** What another way to read the same prompt may come to: a BOS, a prefix space, a default instruction. */
const smallDifference = 32;
/** And of a long prompt no more than this share. */
const smallShare = 1 / 8;

/**
 * A prompt counts as compared if any of its choices tells a count. Media have positions of their own in the engine's
 * count, so a prompt with media can't be compared: it is unknown, not a mismatch.
 */
export function checkCounts({ request, prompts, reply }: Exchange): CountCheck {
  if (request === undefined || reply === undefined || reply.status >= 400) return { result: 'absent' };
  if (bringsMedia(request)) return { result: 'absent' };
  const differences: CountDifference[] = [];
  let compared = 0;
  for (const [promptIndex, read] of prompts.entries()) {
    const told = toldPromptTokens(reply, promptIndex, request.choices);
    if (!read.known || told === undefined) continue;
    compared += 1;
    const known = read.ids.length;
    if (told === known && !hasOtherIds(reply, promptIndex, request.choices, read.ids)) continue;
    const truncated = known - told > Math.max(smallDifference, known * smallShare);
    differences.push({ promptIndex, told, known, truncated });
  }
  if (differences.length > 0) return { result: 'mismatch', differences };
  if (compared === 0) return { result: 'absent' };
  return { result: compared === prompts.length ? 'match' : 'partial' };
}

/** True if the reply tells the prompt's ids, and one of them is another one. */
function hasOtherIds({ choices }: Reply, promptIndex: number, perPrompt: number, ids: Uint32Array): boolean {
  const told = choices.find(({ index }) => Math.floor(index / perPrompt) === promptIndex)?.promptIds;
  return told?.some((id, at) => ids[at] !== id) ?? false;
}

/** The prompt's length by the engine's account; choices of one prompt share it. Undefined if none of them tells it. */
export function toldPromptTokens(
  { choices }: Reply,
  promptIndex: number,
  choicesPerPrompt: number,
): number | undefined {
  return choices.find(
    ({ index, promptTokens }) =>
      promptTokens !== undefined && Math.floor(index / choicesPerPrompt) === promptIndex,
  )?.promptTokens;
}
