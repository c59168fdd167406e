/**
 * The responses under way and the connections they use: counted for the gauge, and ended in order once the server
 * drains. Never cuts off a request that has begun; that is the drain's time limit's work.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class InFlight {
  readonly #responses = new Set<ServerResponse>();
  readonly #connections = new Set<Socket>();
  readonly #report: (requests: number) => void;
  /** Absent until the server drains; then called after each response. */
  #onIdle: (() => void) | undefined;

  constructor(report: (requests: number) => void) {
    this.#report = report;
  }

  /** For each new connection. */
  watch(socket: Socket): void {
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** For each new request. */
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
    const busy = new Set<Socket>();
    for (const response of this.#responses) {
      response.shouldKeepAlive = false;
      busy.add(response.req.socket);
    }
    // Node counts a connection that has not sent a request yet as active and would wait a minute for it.
    for (const socket of this.#connections) if (!busy.has(socket)) socket.destroy();
  }
}
