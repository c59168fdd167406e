/** The responses under way: counted for the gauge, and asked to close their connections once the server drains. */
import type { ServerResponse } from 'node:http';

export class InFlight {
  readonly #responses = new Set<ServerResponse>();
  readonly #report: (requests: number) => void;
  /** Absent until the server drains; then called after each response. */
  #onIdle: (() => void) | undefined;

  constructor(report: (requests: number) => void) {
    this.#report = report;
  }

  add(response: ServerResponse): void {
    this.#responses.add(response);
    this.#report(this.#responses.size);
    if (this.#onIdle) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.#responses.delete(response);
      this.#report(this.#responses.size);
      // The connection counts as idle only after node has finished with this response.
      if (this.#onIdle) setImmediate(this.#onIdle);
    });
  }

  /** No connection is kept from now on; `onIdle` is called whenever one may have become idle. */
  lastOnes(onIdle: () => void): void {
    this.#onIdle = onIdle;
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }
}
