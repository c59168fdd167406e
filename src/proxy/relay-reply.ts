/**
 * Streams the engine's reply to the client, byte for byte, and shows each chunk to a tap on the way.
 * A slow client slows the engine; an engine that dies cuts the client off too, never a clean end.
 */
import type { ServerResponse } from 'node:http';
import type { AddedHeaders } from '../exchange/inspection.ts';
import { clientGone, type Departure } from './client-departure.ts';
import { endToEnd, firstValue } from './raw-headers.ts';
import type { UpstreamReply } from './upstream-reply.ts';

/** Must neither throw nor block. */
export type Tap = (chunk: Buffer) => void;

/**
 * Resolves when the client has everything.
 * @throws whatever ended the reply early; the client's connection is then closed.
 */
export function relayReply(
  reply: UpstreamReply,
  response: ServerResponse,
  departure: Departure,
  added: AddedHeaders,
  tap?: Tap,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { body } = reply;
    const fail = (error: Error): void => {
      release();
      body.cancel(error);
      // What is destroyed may report an error of its own; there is nobody left to tell.
      response.on('error', () => undefined);
      if (response.headersSent) response.destroy();
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
    if (departure.left) return;
    response.on('drain', onDrain).on('finish', onFinish).on('error', fail);
    try {
      // A Date of ours would be a header that the engine did not send.
      response.sendDate = false;
      response.writeHead(reply.status, reply.statusText, [...endToEnd(reply.headers), ...added.flat()]);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    const progress = { begun: false };
    body.flowTo({
      data: (chunk) => {
        progress.begun = true;
        tap?.(chunk);
        return response.write(chunk);
      },
      end: () => {
        progress.begun = true;
        response.end();
      },
      fail,
    });
    // The head of a stream goes out before its first event; a reply of known length needs no packet of its own for it.
    if (!progress.begun && firstValue(reply.headers, 'content-length') === '') response.flushHeaders();
  });
}
