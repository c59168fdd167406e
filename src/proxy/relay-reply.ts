/**
 * Streams the engine's reply to the client, byte for byte, and shows each chunk to a tap on the way.
 * A slow client slows the engine; an engine that dies cuts the client off too, never a clean end.
 */
import type { ServerResponse } from 'node:http';
import type { AddedHeaders } from '../exchange/inspection.ts';
import type { ReplyMender } from '../exchange/reply/reply-mender.ts';
import { clientGone, type Departure } from './client-departure.ts';
import { endToEnd, firstValue, withValue, type RawHeaders } from './raw-headers.ts';
import type { UpstreamReply } from './upstream-reply.ts';

/** Must neither throw nor block. */
export type Tap = (chunk: Buffer) => void;

export interface Relaying {
  readonly added: AddedHeaders;
  /** Sees the reply as it came. */
  readonly tap?: Tap;
  /** Changes what the client gets. */
  readonly mender?: ReplyMender;
}

/**
 * Resolves when the client has everything.
 * @throws whatever ended the reply early; the client's connection is then closed.
 */
export function relayReply(
  reply: UpstreamReply,
  response: ServerResponse,
  departure: Departure,
  { added, tap, mender }: Relaying,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { body } = reply;
    const fail = (error: Error): void => {
      release();
      body.cancel(error);
      // What is destroyed may report an error of its own; there is nobody left to tell.
      response.on('error', () => undefined);
      // Of one that has left nothing is waiting for that, and engines may still be at work for others that left with it.
      if (departure.left) setImmediate(() => response.destroy());
      else if (response.headersSent) response.destroy();
      reject(error);
    };
    const onDrain = (): void => {
      body.resume();
    };
    const onFinish = (): void => {
      release();
      resolve();
    };
    const stopWatching = departure.onLeft(() => {
      fail(clientGone);
    });
    const release = (): void => {
      stopWatching();
      response.off('drain', onDrain).off('finish', onFinish).off('error', fail);
    };
    // With a mender the length is known only at the end, and the client is told one where the engine told one.
    const heldBack =
      mender && firstValue(reply.headers, 'content-length') !== '' ? ([] as Buffer[]) : undefined;
    const begin = (headers: RawHeaders): void => {
      // A Date of ours would be a header that the engine did not send.
      response.sendDate = false;
      response.writeHead(reply.status, reply.statusText, [...endToEnd(headers), ...added.flat()]);
    };
    if (departure.left) return;
    response.on('drain', onDrain).on('finish', onFinish).on('error', fail);
    try {
      if (heldBack === undefined) begin(reply.headers);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    const progress = { begun: false };
    body.flowTo({
      data: (chunk) => {
        progress.begun = true;
        tap?.(chunk);
        const mended = mender?.push(chunk) ?? chunk;
        if (heldBack !== undefined) heldBack.push(mended);
        else if (mended.length > 0) return response.write(mended);
        return true;
      },
      end: () => {
        progress.begun = true;
        if (mender === undefined) {
          response.end();
          return;
        }
        const rest = Buffer.concat([...(heldBack ?? []), mender.end()]);
        if (heldBack !== undefined) begin(withValue(reply.headers, 'content-length', String(rest.length)));
        response.end(rest);
      },
      fail,
    });
    // The head of a stream goes out before its first event; a reply of known length needs no packet of its own for it.
    if (!progress.begun && heldBack === undefined && firstValue(reply.headers, 'content-length') === '')
      response.flushHeaders();
  });
}
