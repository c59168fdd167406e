/**
 * A client's body on its way to the engine: the part already read, then the rest as it arrives.
 * Unlike the request itself it may be destroyed without closing the client's connection, so that an engine that
 * answers before it has read everything (413, 401) still gets its answer through.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

export class Upload extends Readable {
  readonly #request: IncomingMessage;
  /** Read before the decision to stream; empty once it has been handed on. */
  #leading: Buffer[];
  /** True while the request's own bytes are being handed on. */
  #attached = false;
  readonly #onLeadingSent: () => void;

  /** `onLeadingSent` is called once, when `leading` is no longer referenced. */
  constructor(request: IncomingMessage, leading: Buffer[] = [], onLeadingSent: () => void = () => undefined) {
    super();
    this.#request = request;
    this.#leading = leading;
    this.#onLeadingSent = onLeadingSent;
  }

  override _read(): void {
    while (this.#leading.length > 0) {
      const chunk = this.#leading.shift();
      if (this.#leading.length === 0) this.#onLeadingSent();
      if (!this.push(chunk)) return;
    }
    if (!this.#attached) this.#attach();
    this.#request.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#detach();
    if (this.#leading.length > 0) {
      this.#leading = [];
      this.#onLeadingSent();
    }
    // What the client still sends is dropped, so that its connection can carry the answer and be used again.
    this.#request.resume();
    done(error);
  }

  readonly #forwardChunk = (chunk: Buffer): void => {
    if (!this.push(chunk)) this.#request.pause();
  };
  readonly #finish = (): void => {
    this.push(null);
  };
  readonly #fail = (error?: Error): void => {
    if (!this.#request.complete)
      this.destroy(error ?? new Error('the client closed its connection while uploading'));
  };

  #attach(): void {
    this.#attached = true;
    if (this.#request.readableEnded) {
      this.push(null);
      return;
    }
    this.#request.on('data', this.#forwardChunk);
    this.#request.on('end', this.#finish);
    this.#request.on('error', this.#fail);
    this.#request.on('close', this.#fail);
  }

  #detach(): void {
    this.#request.off('data', this.#forwardChunk);
    this.#request.off('end', this.#finish);
    this.#request.off('close', this.#fail);
    // The error listener stays: a request that fails later must not become an uncaught exception.
    if (!this.#attached) this.#request.on('error', () => undefined);
  }
}
