// The slots of the demo engine: what each has computed last, who may use it next, and how much of a prompt it can reuse.
// Reuse is really counted on ids, by llama-server's rule; there is no host-memory cache behind the slots.
// A slot is idle or leased. Only acquire() leases it, only the lease's release() frees it.

/** A slot needs this share of the new prompt to be preferred over the least recently used one. */
const leastSimilarity = 0.1;

interface Slot {
  readonly id: number;
  /** Prompt and generated ids of the last request, without the last sampled one; [] before the first. */
  tokens: readonly number[];
  isBusy: boolean;
  /** Counts leases; 0 for a slot that never ran. */
  usedAt: number;
}

export interface Lease {
  readonly slotId: number;
  /** Leading ids of the prompt that need no computing, at most all but one. */
  readonly reusedTokens: number;
  /** Frees the slot; `tokens` is what it has computed by now. Calling it again does nothing. */
  release(tokens: readonly number[]): void;
}

export interface SlotState {
  readonly id: number;
  readonly isBusy: boolean;
  readonly tokenCount: number;
}

interface Waiter {
  readonly prompt: readonly number[];
  readonly wantedSlot: number | undefined;
  readonly grant: (slot: Slot) => void;
}

export function commonPrefixLength(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length += 1;
  return length;
}

export class SlotPool {
  readonly #slots: readonly Slot[];
  /** Requests that found no idle slot, first come first served. */
  readonly #waiters: Waiter[] = [];
  #leases = 0;

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, (_, id) => ({ id, tokens: [], isBusy: false, usedAt: 0 }));
  }

  get states(): SlotState[] {
    return this.#slots.map(({ id, isBusy, tokens }) => ({ id, isBusy, tokenCount: tokens.length }));
  }

  /**
   * Waits for a slot.
   * @param wantedSlot the only slot that will do; undefined for the best one.
   * @throws the signal's reason if it aborts first.
   */
  async acquire(
    prompt: readonly number[],
    { cachePrompt, wantedSlot }: { readonly cachePrompt: boolean; readonly wantedSlot: number | undefined },
    signal: AbortSignal,
  ): Promise<Lease> {
    signal.throwIfAborted();
    const slot = this.#choose(prompt, wantedSlot) ?? (await this.#wait(prompt, wantedSlot, signal));
    slot.isBusy = true;
    this.#leases += 1;
    slot.usedAt = this.#leases;
    const reusable = cachePrompt ? commonPrefixLength(slot.tokens, prompt) : 0;
    let isReleased = false;
    return {
      slotId: slot.id,
      reusedTokens: Math.min(reusable, prompt.length - 1),
      release: (tokens) => {
        if (isReleased) return;
        isReleased = true;
        slot.tokens = tokens;
        slot.isBusy = false;
        this.#serveWaiters();
      },
    };
  }

  #choose(prompt: readonly number[], wantedSlot: number | undefined): Slot | undefined {
    const idle = this.#slots.filter((slot) => !slot.isBusy && (wantedSlot ?? slot.id) === slot.id);
    const similarity = (slot: Slot): number => commonPrefixLength(slot.tokens, prompt) / prompt.length;
    const similar = idle.filter((slot) => similarity(slot) > leastSimilarity);
    if (similar.length > 0)
      return similar.reduce((best, slot) => (similarity(slot) > similarity(best) ? slot : best));
    return idle.toSorted((a, b) => a.usedAt - b.usedAt)[0];
  }

  #wait(prompt: readonly number[], wantedSlot: number | undefined, signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        prompt,
        wantedSlot,
        grant: (slot) => {
          signal.removeEventListener('abort', leave);
          resolve(slot);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiters.push(waiter);
    });
  }

  #serveWaiters(): void {
    for (const waiter of [...this.#waiters]) {
      const slot = this.#choose(waiter.prompt, waiter.wantedSlot);
      if (slot === undefined) continue;
      // Busy from now on: the waiter itself runs only after this turn of the event loop.
      slot.isBusy = true;
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.grant(slot);
    }
  }
}
