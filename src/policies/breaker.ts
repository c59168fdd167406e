/**
 * The circuit breaker on rejections: when too large a share of the traffic would be rejected, the rule is more likely to
 * be wrong than all of the clients, so blocking stops for a while. Counts requests; knows nothing about them.
 *
 *     closed --(the window is full and too much of it blocks)--> open --(a while has passed)--> half-open
 *     half-open --(its first requests block too much)--> open;  --(they do not)--> closed
 */

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface RejectionBreakerOptions {
  /** Share of a window above which blocking stops, 0 to 1. At 1 it never stops. */
  readonly maxRejectedRatio: number;
  /** Requests in a window; the breaker does not open before it is full. */
  readonly windowRequests: number;
  /** How long it stays open. */
  readonly openMs: number;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Told every change of state, for the log and the alert. */
  readonly onChange?: (state: BreakerState) => void;
}

/** A trial after the open time is this much shorter than a window. */
const trialShare = 0.1;

export class RejectionBreaker {
  readonly #options: RejectionBreakerOptions;
  readonly #window: boolean[] = [];
  #next = 0;
  #blocking = 0;
  #state: BreakerState = 'closed';
  #openedAt = 0;

  constructor(options: RejectionBreakerOptions) {
    this.#options = options;
  }

  get state(): BreakerState {
    this.#halfOpenWhenDue();
    return this.#state;
  }

  /** False while it is open: then nothing may be rejected. */
  get mayReject(): boolean {
    return this.state !== 'open';
  }

  /** Once per decided request, also while open; `blocks` if it was or would have been rejected. */
  record(blocks: boolean): void {
    if (this.state === 'open') return;
    const { windowRequests, maxRejectedRatio } = this.#options;
    const size =
      this.#state === 'half-open' ? Math.max(1, Math.ceil(windowRequests * trialShare)) : windowRequests;
    if (this.#window[this.#next] === true) this.#blocking -= 1;
    this.#window[this.#next] = blocks;
    if (blocks) this.#blocking += 1;
    this.#next = (this.#next + 1) % windowRequests;
    if (this.#window.length < size) return;
    if (this.#blocking / this.#window.length > maxRejectedRatio) this.#open();
    else if (this.#state === 'half-open') this.#change('closed');
  }

  #open(): void {
    this.#openedAt = this.#options.now();
    this.#window.length = 0;
    this.#next = 0;
    this.#blocking = 0;
    this.#change('open');
  }

  #halfOpenWhenDue(): void {
    if (this.#state !== 'open') return;
    if (this.#options.now() - this.#openedAt >= this.#options.openMs) this.#change('half-open');
  }

  #change(state: BreakerState): void {
    this.#state = state;
    this.#options.onChange?.(state);
  }
}
