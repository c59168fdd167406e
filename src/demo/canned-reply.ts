// What the demo engine "generates": one fixed text, cut by token limit or stop word. No randomness, no look at the prompt.
import type { DemoTokenizer } from './tokenizer.ts';

export const cannedText =
  'This is the demo engine. It runs no model: this text was written in advance, and every request gets the same answer. ' +
  'Only the tokens are real. Point the proxy at your own server to inspect the tokens that your own model reads.';

export interface ReplyStep {
  readonly id: number;
  /** What the client sees of this token; '' for the end of the turn and for a stop word. */
  readonly text: string;
}

export interface ReplyPlan {
  /** Never empty: llama-server yields one token even for a limit of 0. */
  readonly steps: readonly ReplyStep[];
  readonly stopType: 'eos' | 'limit' | 'word';
  /** '' unless `stopType` is `word`. */
  readonly stoppingWord: string;
}

interface StopMatch {
  readonly word: string;
  /** UTF-16 offset in the reply's text. */
  readonly at: number;
}

/** The stop word that is complete first; of two that end together, the longer. */
function firstStop(text: string, stops: readonly string[]): StopMatch | undefined {
  const end = (match: StopMatch): number => match.at + match.word.length;
  return stops
    .map((word) => ({ word, at: word === '' ? -1 : text.indexOf(word) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => end(a) - end(b) || a.at - b.at)[0];
}

/** @param limit most tokens to sample; negative for no limit. */
export function planReply(tokenizer: DemoTokenizer, limit: number, stops: readonly string[]): ReplyPlan {
  const ids = tokenizer.tokenize(cannedText, { addSpecial: false, parseSpecial: false });
  const most = limit < 0 ? Infinity : Math.max(1, limit);
  const stop = firstStop(cannedText, stops);
  const steps: ReplyStep[] = [];
  let written = 0;
  for (const id of ids) {
    const piece = tokenizer.detokenize([id]);
    const visible = stop === undefined ? piece : piece.slice(0, Math.max(0, stop.at - written));
    written += piece.length;
    steps.push({ id, text: visible });
    if (stop !== undefined && written >= stop.at + stop.word.length) {
      return { steps, stopType: 'word', stoppingWord: stop.word };
    }
    if (steps.length >= most) return { steps, stopType: 'limit', stoppingWord: '' };
  }
  steps.push({ id: tokenizer.endOfTurn.id, text: '' });
  return { steps, stopType: 'eos', stoppingWord: '' };
}
