/**
 * One request on its way through undici, and its reply as it comes. Bytes are handed on in the turn in which they are
 * read: no stream object stands between the engine's connection and whoever takes them (bench/pass-through.ts).
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { RawHeaders } from './raw-headers.ts';

/** Who takes a reply's body. Exactly one of `end` and `fail` comes last. */
export interface ReplyReceiver {
  /** @returns false if no more may come until the body is resumed. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** The reply ended before it was complete. */
  fail(error: Error): void;
}

/** The body of a reply whose head has come; nothing of it is lost or read before somebody takes it. */
export interface ReplyBody {
  /** Once. What has come already is handed over before this returns. */
  flowTo(receiver: ReplyReceiver): void;
  resume(): void;
  /** Ends the request upstream at once. */
  cancel(reason: Error): void;
}

export interface UpstreamReply {
  readonly status: number;
  /** Reason phrase as sent, bytes as latin1. */
  readonly statusText: string;
  readonly headers: RawHeaders;
  readonly body: ReplyBody;
}

export class UpstreamTalk implements Dispatcher.DispatchHandler, ReplyBody {
  /** Rejects with the connection's error or the reason of `cancel`. */
  readonly reply: Promise<UpstreamReply>;
  readonly #upload: Buffer | Readable | undefined;
  readonly #onOver: () => void;
  #resolve: (reply: UpstreamReply) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #receiver: ReplyReceiver | undefined;
  #cancelled: Error | undefined;
  #over: { readonly error: Error | undefined } | undefined;

  /** @param onOver called once, when nothing more is sent or comes. */
  constructor(upload: Buffer | Readable | undefined, onOver: () => void) {
    this.#upload = upload;
    this.#onOver = onOver;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  flowTo(receiver: ReplyReceiver): void {
    this.#receiver = receiver;
    if (this.#over) this.#tellOver(receiver, this.#over.error);
    else this.#controller?.resume();
  }

  resume(): void {
    this.#controller?.resume();
  }

  cancel(reason: Error): void {
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled) controller.abort(this.#cancelled);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusText = '',
  ): void {
    // Interim answers (100, 103) are for this hop.
    if (status < 200) return;
    controller.pause();
    this.#resolve({
      status,
      statusText: Buffer.from(statusText).toString('latin1'),
      headers: namesAndValues(controller.rawHeaders),
      body: this,
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#receiver?.data(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
    if (this.#upload instanceof Readable) this.#upload.on('error', () => undefined).destroy(error);
    this.#finish(error);
  }

  #finish(error: Error | undefined): void {
    if (this.#over) return;
    this.#over = { error };
    this.#onOver();
    if (this.#receiver) this.#tellOver(this.#receiver, error);
  }

  #tellOver(receiver: ReplyReceiver, error: Error | undefined): void {
    if (error) receiver.fail(error);
    else receiver.end();
  }
}

/** undici gives the fields as buffers; what is no ASCII keeps its bytes as latin1. */
function namesAndValues(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((field) => (typeof field === 'string' ? field : field.toString('latin1')));
}
