/**
 * Reads a request body into one buffer for inspection, within limits, or hands it back as a stream when it may not be
 * held. Loses no byte either way, and never answers 413: the engine's own limit decides.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { UnknownReason } from '../exchange/token-read.ts';
import { Upload } from './upload.ts';

export interface HoldLimits {
  /** Largest body that is held, in bytes. */
  readonly requestBytes: number;
  /** Most bytes held over all requests. */
  readonly heldBytesTotal: number;
}

export type Holding =
  | { readonly held: true; readonly body: Buffer }
  | { readonly held: false; readonly reason: UnknownReason; readonly rest: Readable };

/** Counts the bytes that all requests hold together. */
export class HeldBytes {
  #total = 0;
  /** Bytes that bodies under way have room set aside for, whether they have come or not. */
  #setAside = 0;
  readonly #report: (bytes: number) => void;

  constructor(report: (bytes: number) => void) {
    this.#report = report;
  }

  /** Opens one request's account, which is given back as a whole. */
  account(): HeldAccount {
    let own = 0;
    let room = 0;
    return {
      setAside: (bytes, heldBytesTotal) => {
        if (this.#setAside + bytes > heldBytesTotal) return undefined;
        room += bytes;
        this.#setAside += bytes;
        return Buffer.allocUnsafeSlow(bytes);
      },
      take: (bytes, heldBytesTotal) => {
        if (this.#total + bytes > heldBytesTotal) return false;
        own += bytes;
        this.#add(bytes);
        return true;
      },
      release: () => {
        this.#setAside -= room;
        room = 0;
        if (own === 0) return;
        this.#add(-own);
        own = 0;
      },
    };
  }

  #add(bytes: number): void {
    this.#total += bytes;
    this.#report(this.#total);
  }
}

export interface HeldAccount {
  /** Room for a body of that length, if all that was set aside stays within the total: announced is not yet sent. */
  setAside(bytes: number, heldBytesTotal: number): Buffer | undefined;
  /** False, and nothing taken, if that would exceed the total. */
  take(bytes: number, heldBytesTotal: number): boolean;
  /** Gives back all that was taken; safe to call twice. */
  release(): void;
}

/** The client closed its connection before its body was complete. */
export class UploadAbandoned extends Error {}

/** Streams a body without holding any of it. */
export function streamBody(request: IncomingMessage, reason: UnknownReason): Holding {
  return { held: false, reason, rest: new Upload(request) };
}

/**
 * Holds the body of `request`.
 * @throws UploadAbandoned if the client leaves first.
 */
export function holdBody(
  request: IncomingMessage,
  limits: HoldLimits,
  account: HeldAccount,
): Promise<Holding> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    return Promise.resolve(streamBody(request, 'compressed-body'));
  }
  if (Number(request.headers['content-length'] ?? 0) > limits.requestBytes) {
    return Promise.resolve(streamBody(request, 'body-too-large'));
  }
  return readWithin(request, limits, account);
}

function readWithin(request: IncomingMessage, limits: HoldLimits, account: HeldAccount): Promise<Holding> {
  return new Promise((resolve, reject) => {
    // A declared length gets its room at once (untouched memory costs nothing), so that no copy of the whole is made
    // at the end, when it would hold every other request up.
    const declared = declaredLength(request);
    const whole = declared === undefined ? undefined : account.setAside(declared, limits.heldBytesTotal);
    const chunks: Buffer[] = [];
    let length = 0;

    const overflow = (reason: UnknownReason): void => {
      request.pause();
      stop();
      const release = (): void => {
        account.release();
      };
      const begun = whole === undefined ? chunks : [whole.subarray(0, length)];
      resolve({ held: false, reason, rest: new Upload(request, begun, release) });
    };
    const onData = (chunk: Buffer): void => {
      if (whole === undefined) chunks.push(chunk);
      else chunk.copy(whole, length);
      length += chunk.length;
      if (length > limits.requestBytes) overflow('body-too-large');
      else if (!account.take(chunk.length, limits.heldBytesTotal)) overflow('held-bytes-exhausted');
    };
    const onEnd = (): void => {
      stop();
      resolve({
        held: true,
        body: whole ?? (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)),
      });
    };
    const onGone = (): void => {
      if (request.complete) return;
      stop();
      account.release();
      reject(new UploadAbandoned('the client closed its connection while uploading'));
    };
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onGone);
    };
    request.on('data', onData).on('end', onEnd).on('close', onGone);
    // 'close' follows; without a listener the error would be thrown.
    request.on('error', () => undefined);
  });
}

/** Undefined for chunked bodies; node has refused a head whose length is no number. */
function declaredLength(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length'];
  return text === undefined ? undefined : Number(text);
}
