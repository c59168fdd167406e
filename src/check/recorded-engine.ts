/**
 * An engine of the past: answers the pipeline's questions with what a recording holds of one model, and knows nothing
 * else. Everything that it does not hold is unknown with a reason; it never guesses and asks nobody.
 */
import type { Engine, FactsRead, PromptReading } from '../engines/engine.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { RecordedPrompt } from '../exchange/recording/recording.ts';
import type { ReplyReader } from '../exchange/reply/reply.ts';
import { promptCount } from '../exchange/request/prompt-count.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';
import { passRoute, type Route } from '../exchange/request/route.ts';
import { unknown, type HeadRead, type TokenRead, type Unknown } from '../exchange/token-read.ts';
import { keyedDigest } from '../tokens/digest.ts';

const notHeld: RecordedPrompt = { unknown: 'engine-cannot' };

/** Ids of a head: more BOS than these is nobody's prompt. */
const headTokens = 64;

export class RecordedEngine implements Engine {
  readonly kind: string;
  readonly #facts: ModelFacts;
  readonly #digestKey: Uint8Array;
  /** By the bytes that the pipeline is given: the same buffer, not an equal one. */
  readonly #prompts = new WeakMap<Buffer, readonly RecordedPrompt[]>();

  /** @param digestKey of the pipeline that asks: equal segments get equal keys. */
  constructor(facts: ModelFacts, digestKey: Uint8Array) {
    this.kind = facts.engine;
    this.#facts = facts;
    this.#digestKey = digestKey;
  }

  /** From now on the answer for this body. */
  hold(body: Buffer, prompts: readonly RecordedPrompt[]): void {
    this.#prompts.set(body, prompts);
  }

  /** An exchange of a recording has its route; no path leads here. */
  routeOf(): Route {
    return passRoute;
  }

  facts(): Promise<FactsRead> {
    return Promise.resolve({ known: true, facts: this.#facts });
  }

  read(request: GenerationRequest): PromptReading {
    const held = this.#prompts.get(request.body) ?? [];
    // Of a prompt that is not in the recording nothing is known, whatever was to be seen of the others.
    const prompts = Array.from({ length: promptCount(request) }, (_, index) => held[index] ?? notHeld);
    return {
      heads: () => Promise.resolve(prompts.map(headOf)),
      prompts: () => Promise.resolve(prompts.map((prompt) => this.#tokensOf(prompt))),
    };
  }

  replyReader(): ReplyReader {
    throw new Error('a recorded exchange is judged by what was read of its reply, and has none to be read');
  }

  /** What was not asked then can't be asked now. */
  askingForIds(): undefined {
    return undefined;
  }

  pieces(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  explain(): Promise<Unknown> {
    return Promise.resolve(unknown('engine-cannot'));
  }

  models(): Promise<readonly never[]> {
    return Promise.resolve([]);
  }

  noteReply(): void {
    // No traffic goes there.
  }

  noteCount(): readonly never[] {
    return [];
  }

  idsVerified(): boolean {
    return true;
  }

  ready(): Promise<{ ready: boolean; reason: string }> {
    return Promise.resolve({ ready: true, reason: 'the recording is read' });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #tokensOf(prompt: RecordedPrompt): TokenRead {
    if ('unknown' in prompt) return unknown(prompt.unknown);
    if ('pseudonyms' in prompt) return unknown('engine-cannot');
    const { ids, source, text, segments, cut } = prompt;
    return {
      known: true,
      ids: Uint32Array.from(ids),
      source,
      ...(cut !== undefined && { cut }),
      ...(text !== undefined && { text }),
      ...(text !== undefined &&
        segments && {
          segments: segments.map(([tokenStart, textStart], index) => ({
            key: keyedDigest(this.#digestKey, 'recorded', text.slice(textStart, segments[index + 1]?.[1])),
            tokenStart,
            textStart,
          })),
        }),
    };
  }
}

function headOf(prompt: RecordedPrompt): HeadRead {
  if ('ids' in prompt) {
    const { ids, cut, added } = prompt;
    return {
      known: true,
      ids: ids.slice(0, headTokens),
      ...(cut !== undefined && { cut }),
      ...(added !== undefined && { added }),
    };
  }
  if ('pseudonyms' in prompt) return unknown('engine-cannot');
  return prompt.head === undefined ? unknown(prompt.unknown) : { known: true, ids: prompt.head };
}
