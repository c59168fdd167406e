/** Tells that a client has left. It must not tell so of a client that has its whole answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The reason of every request that ends so; one for all, because a stack trace each would only slow many departures down. */
export const clientGone = new Error('the client closed its connection');

/**
 * What an AbortSignal would be, for one request: making and wiring a signal took a tenth of the time of a short
 * request (bench/pass-through.ts).
 */
export class Departure {
  readonly #response: ServerResponse;
  readonly #listeners = new Set<() => void>();
  #left = false;

  /**
   * The socket is watched too: the response of a pipelined request has no socket, hence no 'close', until its turn.
   */
  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#response = response;
    const { socket } = request;
    const onClose = (): void => {
      response.off('close', onClose);
      socket.off('close', onClose).off('end', onEnd);
      this.#closed();
    };
    // Node sends nothing more on a connection whose other side has ended, but for what is written already. Its 'close'
    // comes some turns later, and after those of all others that end in the same turn.
    const onEnd = (): void => {
      if (!response.writableEnded) onClose();
    };
    if (socket.destroyed) onClose();
    else {
      response.on('close', onClose);
      socket.on('close', onClose).on('end', onEnd);
    }
  }

  /** True once the connection has closed before the response was written out. */
  get left(): boolean {
    return this.#left;
  }

  /** Calls back at most once, at once if the client has left already. @returns what ends the watch. */
  onLeft(callback: () => void): () => void {
    if (this.#left) callback();
    else this.#listeners.add(callback);
    return () => {
      this.#listeners.delete(callback);
    };
  }

  #closed(): void {
    if (!this.#response.writableFinished) {
      this.#left = true;
      for (const callback of this.#listeners) callback();
    }
    this.#listeners.clear();
  }
}
