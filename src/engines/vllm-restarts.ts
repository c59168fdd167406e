/**
 * Sees that a vLLM was started anew: the start time of its process is the only thing it says of itself that differs per
 * process (its `created` stamps are those of the answer). Servers with several API processes do not say it.
 */
import { untied } from './ask-context.ts';
import type { AskContext } from './engine.ts';
import { orUnknown } from './oracle-failure.ts';
import type { VllmOracle } from './vllm-oracle.ts';

/** Its metrics are a large page, and it takes longer than this to start. */
const askEveryMs = 10_000;

export class VllmRestarts {
  readonly #oracle: VllmOracle;
  readonly #onRestart: () => void;
  #askedMs = -Infinity;
  /** The newest start that was seen, and when that process last answered. */
  #seen: { readonly startedMs: number; readonly answeredMs: number } | undefined;

  constructor(oracle: VllmOracle, onRestart: () => void) {
    this.#oracle = oracle;
    this.#onRestart = onRestart;
  }

  /** Asks, if it is time to; nobody waits for the answer. */
  look(context: AskContext): void {
    const now = Date.now();
    if (now - this.#askedMs < askEveryMs) return;
    this.#askedMs = now;
    void this.#ask(untied(context), now);
  }

  async #ask(context: AskContext, askedMs: number): Promise<void> {
    const read = await orUnknown(() => this.#oracle.metrics(context));
    if ('known' in read || read.startedMs === undefined) return;
    const { startedMs } = read;
    const before = this.#seen;
    // Behind one address there may be several servers, which answer in turn: none of them was started since.
    if (before !== undefined && startedMs < before.startedMs) return;
    this.#seen = { startedMs, answeredMs: askedMs };
    if (before !== undefined && startedMs > before.answeredMs) this.#onRestart();
  }
}
