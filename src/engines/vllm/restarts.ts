/**
 * Sees that a vLLM was started anew. Only its metrics differ per process (the `created` stamps of its models are those of
 * the answer, its `system_fingerprint` is that of its version and settings): the start time or, where several API processes
 * put their metrics together and tell none, a count that has fallen after it did not answer.
 */
import { untied } from '../oracle/ask-context.ts';
import type { AskContext } from '../engine.ts';
import { orUnknown } from '../oracle/oracle-failure.ts';
import type { VllmMetrics, VllmOracle } from './oracle.ts';

/** Its metrics are a large page, and it takes longer than this to start. */
const askEveryMs = 10_000;

export class VllmRestarts {
  readonly #oracle: VllmOracle;
  readonly #onRestart: () => void;
  #askedMs = -Infinity;
  /** The newest start that was seen, and when that process last answered. */
  #seen: { readonly startedMs: number; readonly answeredMs: number } | undefined;
  #servedTokens: number | undefined;
  #wasAway = false;

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

  /** A request met nobody, or a server that is not ready. */
  noteAway(): void {
    this.#wasAway = true;
  }

  async #ask(context: AskContext, askedMs: number): Promise<void> {
    const read = await orUnknown(() => this.#oracle.metrics(context));
    if ('known' in read) return;
    const isNew =
      read.startedMs === undefined ? this.#hasFallen(read) : this.#isLater(read.startedMs, askedMs);
    if (isNew) this.#onRestart();
  }

  #isLater(startedMs: number, askedMs: number): boolean {
    const before = this.#seen;
    // Behind one address there may be several servers, which answer in turn: none of them was started since.
    if (before !== undefined && startedMs < before.startedMs) return false;
    this.#seen = { startedMs, answeredMs: askedMs };
    return before !== undefined && startedMs > before.answeredMs;
  }

  /** Of several servers that answer in turn one has served less, too: so that alone is no sign. */
  #hasFallen({ servedTokens }: VllmMetrics): boolean {
    if (servedTokens === undefined) return false;
    const before = this.#servedTokens;
    const wasAway = this.#wasAway;
    this.#servedTokens = servedTokens;
    this.#wasAway = false;
    return wasAway && before !== undefined && servedTokens < before;
  }
}
