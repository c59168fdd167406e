/**
 * Questions to the engine that nobody waits for, put off until it is done with one that somebody does: until a reply has
 * begun, or for a while where none does. Asked at once they would be worked on beside the client's request.
 */

/** By then an engine has read the prompt that was forwarded, and begun to generate. */
const patienceMs = 500;

export class PutOff {
  readonly #waiting = new Set<() => void>();

  /** @param work must not reject */
  add(work: () => Promise<void>): void {
    const start = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(start);
      void work();
    };
    const timer = setTimeout(start, patienceMs);
    timer.unref();
    this.#waiting.add(start);
  }

  /** A reply has begun: whichever it is to, the engine has taken what was forwarded before. */
  release(): void {
    for (const start of [...this.#waiting]) start();
  }
}
