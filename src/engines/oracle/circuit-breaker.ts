/** Stops asking an engine that does not answer, so that inspection never adds to its trouble. */
import type { UnknownReason } from '../../exchange/token-read.ts';

/** Failures that say something about the engine, not about one request. */
const engineFailures: readonly UnknownReason[] = ['engine-unreachable', 'engine-loading', 'oracle-timeout'];

export interface CircuitBreakerOptions {
  /** Failures in a row that open it. */
  readonly failures?: number;
  /** How long it stays open before one trial is let through. */
  readonly openMs?: number;
  readonly now?: () => number;
  readonly onChange?: (open: boolean, reason: UnknownReason) => void;
}

/**
 * States: closed (all pass) → open (none pass, after `failures` in a row) → trial (one passes, after `openMs`) →
 * closed if it succeeded, else open again. Only `note` and `barred` move it.
 */
export class CircuitBreaker {
  readonly #failuresToOpen: number;
  readonly #openMs: number;
  readonly #now: () => number;
  readonly #onChange: ((open: boolean, reason: UnknownReason) => void) | undefined;
  #failuresInARow = 0;
  #openedAtMs: number | undefined;
  /** Why it opened; what barred calls answer. */
  #reason: UnknownReason = 'engine-unreachable';

  constructor({ failures = 5, openMs = 2000, now = Date.now, onChange }: CircuitBreakerOptions = {}) {
    this.#failuresToOpen = failures;
    this.#openMs = openMs;
    this.#now = now;
    this.#onChange = onChange;
  }

  /** The reason why a call may not be made now, or undefined if it may. */
  barred(): UnknownReason | undefined {
    if (this.#openedAtMs === undefined) return undefined;
    if (this.#now() - this.#openedAtMs < this.#openMs) return this.#reason;
    // One trial: others stay barred until it has answered or another period is over.
    this.#openedAtMs = this.#now();
    return undefined;
  }

  /** Tells how a call ended; undefined for success. A refusal (4xx) is the request's fault and counts as success. */
  note(failure: UnknownReason | undefined): void {
    if (failure === undefined || !engineFailures.includes(failure)) {
      this.#failuresInARow = 0;
      if (failure === 'budget-exhausted' || this.#openedAtMs === undefined) return;
      this.#openedAtMs = undefined;
      this.#onChange?.(false, this.#reason);
      return;
    }
    this.#failuresInARow += 1;
    this.#reason = failure;
    if (this.#openedAtMs !== undefined) {
      this.#openedAtMs = this.#now();
    } else if (this.#failuresInARow >= this.#failuresToOpen) {
      this.#openedAtMs = this.#now();
      this.#onChange?.(true, failure);
    }
  }
}
