/**
 * Streams the engine's reply to the client, byte for byte, and shows each chunk to a tap on the way.
 * A slow client slows the engine; an engine that dies cuts the client off too, never a clean end.
 */
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { AddedHeaders } from '../exchange/inspection.ts';
import type { UpstreamReply } from './forward.ts';
import { endToEnd, firstValue } from './raw-headers.ts';

/** Must neither throw nor block. */
export type Tap = (chunk: Buffer) => void;

/**
 * Resolves when the client has everything.
 * @throws whatever ended the reply early; the client's connection is then closed.
 */
export async function relayReply(
  reply: UpstreamReply,
  response: ServerResponse,
  added: AddedHeaders,
  tap?: Tap,
): Promise<void> {
  try {
    // A Date of ours would be a header that the engine did not send.
    response.sendDate = false;
    response.writeHead(reply.status, reply.statusText, [...endToEnd(reply.headers), ...added.flat()]);
    // The head of a stream goes out before its first event; a reply of known length needs no packet of its own for it.
    if (firstValue(reply.headers, 'content-length') === '') response.flushHeaders();
  } catch (error) {
    reply.body.on('error', () => undefined).destroy();
    throw error;
  }
  await copy(reply.body, response, tap);
}

/**
 * What `stream.pipeline` does for these two ends, without the AbortController and the exception object that it makes
 * for every call: they took a third of a short reply's time (bench/pass-through.ts). Either end that fails ends both.
 */
function copy(body: Readable, response: ServerResponse, tap: Tap | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      release();
      // What is destroyed may report an error of its own; there is nobody left to tell.
      body.on('error', () => undefined).destroy();
      response.on('error', () => undefined).destroy();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      tap?.(chunk);
      if (!response.write(chunk)) body.pause();
    };
    const onDrain = (): void => {
      body.resume();
    };
    const onEnd = (): void => {
      response.end();
    };
    const onBodyClose = (): void => {
      if (!body.readableEnded) fail(new Error('the reply ended before it was complete'));
    };
    const onFinish = (): void => {
      release();
      resolve();
    };
    const onResponseClose = (): void => {
      fail(new Error('the client closed its connection before it had the reply'));
    };
    const release = (): void => {
      body.off('data', onData).off('end', onEnd).off('error', fail).off('close', onBodyClose);
      response.off('drain', onDrain).off('finish', onFinish).off('error', fail).off('close', onResponseClose);
    };
    if (response.destroyed) {
      onResponseClose();
      return;
    }
    response.on('drain', onDrain).on('finish', onFinish).on('error', fail).on('close', onResponseClose);
    body.on('end', onEnd).on('error', fail).on('close', onBodyClose).on('data', onData);
  });
}
