// One choice of one request: waits for a slot, "computes" the prompt, samples the canned reply token by token.
// The pace is simulated, the counts are not. Must not know the shape of replies.
import { setTimeout as delay } from 'node:timers/promises';
import { planReply } from './canned-reply.ts';
import type { SlotPool } from './slots.ts';
import type { DemoTokenizer } from './tokenizer.ts';

export interface Pace {
  /** Pause before each token of a reply; 0 for none. */
  readonly tokenIntervalMs: number;
  /** Simulated speed of computing a prompt; reused tokens cost nothing. Infinity for no pause. */
  readonly prefillTokensPerSecond: number;
}

export interface ChoiceRequest {
  /** Over all prompts and choices of the request. */
  readonly index: number;
  readonly prompt: readonly number[];
  /** Most tokens to sample; negative for no limit. */
  readonly limit: number;
  readonly stops: readonly string[];
  readonly cachePrompt: boolean;
  readonly wantedSlot: number | undefined;
}

export interface Timings {
  readonly cache_n: number;
  readonly prompt_n: number;
  readonly prompt_ms: number;
  readonly prompt_per_token_ms: number;
  readonly prompt_per_second: number;
  readonly predicted_n: number;
  readonly predicted_ms: number;
  readonly predicted_per_token_ms: number;
  readonly predicted_per_second: number;
}

export interface ChoiceResult {
  readonly index: number;
  readonly slotId: number;
  readonly promptTokens: number;
  readonly reusedTokens: number;
  readonly text: string;
  readonly tokens: readonly number[];
  readonly stopType: 'eos' | 'limit' | 'word';
  readonly stoppingWord: string;
  /** Ids that the slot holds afterwards. */
  readonly slotTokens: number;
  readonly timings: Timings;
}

export interface SampledToken {
  readonly slotId: number;
  readonly id: number;
  readonly text: string;
  /** Tokens sampled so far, this one included. */
  readonly count: number;
}

/** Called as the choice proceeds, each awaited: a slow reader slows the generation down. */
export interface ChoiceListener {
  /** The slot begins with the prompt; the reply's headers may go out. */
  started(): void;
  sampled(token: SampledToken): Promise<void>;
}

/** How a choice ended; `sampledTokens` counts what was generated until then. */
export interface GenerationEnd {
  readonly outcome: 'completed' | 'aborted';
  readonly sampledTokens: number;
}

export interface GenerationEngine {
  readonly tokenizer: DemoTokenizer;
  readonly slots: SlotPool;
  readonly pace: Pace;
  readonly onGenerationEnd: (end: GenerationEnd) => void;
}

function timingsOf(
  promptTokens: number,
  reused: number,
  promptMs: number,
  predicted: number,
  predictedMs: number,
): Timings {
  const computed = promptTokens - reused;
  // A clock may stand still between two readings; a rate must stay finite for JSON.
  const prompt = Math.max(promptMs, 0.001);
  const prediction = Math.max(predictedMs, 0.001);
  return {
    cache_n: reused,
    prompt_n: computed,
    prompt_ms: prompt,
    prompt_per_token_ms: prompt / computed,
    prompt_per_second: (computed * 1000) / prompt,
    predicted_n: predicted,
    predicted_ms: prediction,
    predicted_per_token_ms: prediction / predicted,
    predicted_per_second: (predicted * 1000) / prediction,
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal });
  signal.throwIfAborted();
}

/**
 * @throws the signal's reason, or an AbortError, when the client leaves; the slot keeps what it has computed.
 */
export async function generateChoice(
  { tokenizer, slots, pace, onGenerationEnd }: GenerationEngine,
  request: ChoiceRequest,
  listener: ChoiceListener,
  signal: AbortSignal,
): Promise<ChoiceResult> {
  const { prompt } = request;
  const plan = planReply(tokenizer, request.limit, request.stops);
  const lease = await slots.acquire(prompt, request, signal);
  const sampled: number[] = [];
  const held = (): number[] => [...prompt, ...sampled.slice(0, -1)];
  let outcome: GenerationEnd['outcome'] = 'aborted';
  try {
    listener.started();
    const startedAt = performance.now();
    await pause(((prompt.length - lease.reusedTokens) * 1000) / pace.prefillTokensPerSecond, signal);
    const computedAt = performance.now();
    for (const { id, text } of plan.steps) {
      await pause(pace.tokenIntervalMs, signal);
      sampled.push(id);
      await listener.sampled({ slotId: lease.slotId, id, text, count: sampled.length });
    }
    outcome = 'completed';
    return {
      index: request.index,
      slotId: lease.slotId,
      promptTokens: prompt.length,
      reusedTokens: lease.reusedTokens,
      text: plan.steps.map((step) => step.text).join(''),
      tokens: sampled,
      stopType: plan.stopType,
      stoppingWord: plan.stoppingWord,
      slotTokens: held().length,
      timings: timingsOf(
        prompt.length,
        lease.reusedTokens,
        computedAt - startedAt,
        sampled.length,
        performance.now() - computedAt,
      ),
    };
  } finally {
    lease.release(held());
    onGenerationEnd({ outcome, sampledTokens: sampled.length });
  }
}
