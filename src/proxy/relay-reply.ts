/**
 * Streams the engine's reply to the client, byte for byte, and shows each chunk to a tap on the way.
 * A slow client slows the engine; an engine that dies cuts the client off too, never a clean end.
 */
import type { ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AddedHeaders } from '../exchange/inspection.ts';
import type { UpstreamReply } from './forward.ts';
import { endToEnd } from './raw-headers.ts';

/** Must neither throw nor block. */
export type Tap = (chunk: Buffer) => void;

function tapStream(tap: Tap): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      tap(chunk);
      done(null, chunk);
    },
  });
}

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
    response.flushHeaders();
  } catch (error) {
    reply.body.on('error', () => undefined).destroy();
    throw error;
  }
  if (tap) await pipeline(reply.body, tapStream(tap), response);
  else await pipeline(reply.body, response);
}
