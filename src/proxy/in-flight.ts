/**
 * The responses under way and the connections they use: counted for the gauge, and ended in order once the server
 * drains. Never cuts off a request that has begun; that is the drain's time limit's work.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class InFlight {
  readonly #responses = new Set<ServerResponse>();
  /** Open connections, with the number of responses under way on each. */
  readonly #connections = new Map<Socket, number>();
  readonly #report: (requests: number) => void;
  /** Absent until the server drains; then called after each response. */
  #onIdle: (() => void) | undefined;

  constructor(report: (requests: number) => void) {
    this.#report = report;
  }

  /** For each new connection. */
  watch(socket: Socket): void {
    this.#connections.set(socket, 0);
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** For each new request. */
  add(response: ServerResponse): void {
    const { socket } = response.req;
    this.#responses.add(response);
    this.#count(socket, 1);
    this.#report(this.#responses.size);
    if (this.#onIdle) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.#responses.delete(response);
      this.#count(socket, -1);
      this.#report(this.#responses.size);
      // The connection counts as idle only after node has finished with this response.
      if (this.#onIdle) setImmediate(this.#onIdle);
    });
  }

  /** No connection is kept from now on; `onIdle` is called whenever one may have become idle. */
  lastOnes(onIdle: () => void): void {
    this.#onIdle = onIdle;
    for (const response of this.#responses) response.shouldKeepAlive = false;
    // Node counts a connection that has not sent a request yet as active and would wait a minute for it.
    for (const [socket, responses] of this.#connections) if (responses === 0) socket.destroy();
  }

  #count(socket: Socket, change: number): void {
    const responses = this.#connections.get(socket);
    if (responses !== undefined) this.#connections.set(socket, responses + change);
  }
}
