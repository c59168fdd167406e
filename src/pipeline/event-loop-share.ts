/**
 * Long work in the process's one thread: once it has had its share of the time, everything else that waits goes first. Knows
 * no work; whoever does some asks between two steps.
 */
import { setImmediate as everyoneElse } from 'node:timers/promises';

/** A reply's piece, another request or a departure waits so long, and for the step that is being done. */
const shareMs = 5;

export class EventLoopShare {
  readonly #now: () => number;
  #since: number;
  #pausedMs = 0;

  /** @param now monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  /** Seconds that others had. */
  get pausedSeconds(): number {
    return this.#pausedMs / 1000;
  }

  /** To be waited for; undefined while there is some of the share left. */
  pause(): Promise<void> | undefined {
    const before = this.#now();
    return before - this.#since < shareMs ? undefined : this.#others(before);
  }

  async #others(before: number): Promise<void> {
    await everyoneElse();
    this.#since = this.#now();
    this.#pausedMs += this.#since - before;
  }
}
