/**
 * Where two prompts of the same request part: the first differing token, and what its depth says. Compares ids and nothing
 * else; judges neither of the two.
 */
import { counted } from '../exchange/counted.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { commonPrefixLength } from './common-prefix.ts';

/** `wire-format`: only control tokens are shared before. `generation-prompt`: one side ends, or only the end differs. */
export type Depth = 'wire-format' | 'content' | 'generation-prompt';

export interface Side {
  /** As a sentence begins with it: `The recorded prompt`. */
  readonly name: string;
  readonly ids: Uint32Array;
  readonly facts: ModelFacts;
}

export interface Divergence {
  /** Index of the first token that differs; of one that only one side has, where one side ends. */
  readonly position: number;
  readonly depth: Depth;
  /** The depth in words: what differs, and what that means. */
  readonly message: string;
}

/** Undefined if the ids are the same. */
export function divergenceOf(one: Side, other: Side): Divergence | undefined {
  const position = commonPrefixLength(one.ids, other.ids);
  if (position === one.ids.length && position === other.ids.length) return undefined;
  if (position === Math.min(one.ids.length, other.ids.length)) {
    return { position, depth: 'generation-prompt', message: oneSideEnds(one, other, position) };
  }
  if (isFrame(one, position)) {
    const where = position === 0 ? 'from the first token on' : `after ${counted(position, 'control token')}`;
    const message = `The prompts differ ${where}: not in what the messages say but in the wire format around them (BOS, template, role markers).`;
    return { position, depth: 'wire-format', message };
  }
  if (position >= contentEnd(one) && position >= contentEnd(other)) {
    const message = `The prompts are the same for ${counted(position, 'token')} and differ in the generation prompt at their end.`;
    return { position, depth: 'generation-prompt', message };
  }
  const message = `The prompts are the same for ${counted(position, 'token')} of ${one.ids.length}, so the wire format is; then the content differs (a text, or what the template makes of it).`;
  return { position, depth: 'content', message };
}

/** True if nothing but control tokens stands before the position: no message has been read yet. */
function isFrame({ ids, facts }: Side, position: number): boolean {
  const controls = new Set([facts.bos, ...facts.markers].map((marker) => marker?.id));
  return ids.subarray(0, position).every((id) => controls.has(id));
}

function oneSideEnds(one: Side, other: Side, position: number): string {
  const longer = one.ids.length > position ? one : other;
  const surplus = longer.ids.subarray(position);
  const known = tailsOf(longer.facts).find(({ ids }) => isSame(ids, surplus));
  const what =
    known === undefined
      ? 'more than a generation prompt: a turn, or a tail that the template writes behind one'
      : `exactly ${known.name}`;
  return `${longer.name} goes on where the other ends, with ${counted(surplus.length, 'token')}: ${what}.`;
}

/** Index of the first token of the known tail at the prompt's end; its length if it ends with none. */
function contentEnd({ ids, facts }: Side): number {
  const tail = tailsOf(facts).find((one) => isSame(one.ids, ids.subarray(-one.ids.length)));
  return ids.length - (tail?.ids.length ?? 0);
}

interface NamedTail {
  readonly name: string;
  readonly ids: readonly number[];
}

/** What a template can leave at a prompt's end, longest first. */
function tailsOf({ generationPrompt, thinkTail }: ModelFacts): NamedTail[] {
  const prompt = { name: 'the generation prompt', ids: generationPrompt?.ids ?? [] };
  const think = { name: 'the think tail', ids: thinkTail?.ids ?? [] };
  const both = { name: `${prompt.name} and ${think.name}`, ids: [...prompt.ids, ...think.ids] };
  const tails = think.ids.length > 0 && prompt.ids.length > 0 ? [both, prompt, think] : [prompt, think];
  return tails.filter(({ ids }) => ids.length > 0);
}

function isSame(a: readonly number[], b: Uint32Array): boolean {
  return a.length === b.length && a.every((id, index) => b[index] === id);
}
