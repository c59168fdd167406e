/** Reads an answer of the engine up to a bound: what sends without end, as another service on its port may, fills no memory. */
import type { Readable } from 'node:stream';

const MiB = 1024 * 1024;

/** Whatever was asked: a vocabulary with 200,000 added tokens, as `/tokenizer_info` lists it, takes some 6 MiB. */
const alwaysBytes = 32 * MiB;

/**
 * For each byte of the question. No tokenizer makes more than one id of a byte, and an id with its piece, as
 * `{"id":151644,"piece":[226]},`, takes 28 bytes at most; a template writes a frame of less around a message's own JSON.
 */
const bytesPerByte = 32;

/** More than prompts of the longest text that is asked about (8 MiB) come to, and less than a string can hold. */
const mostBytes = 256 * MiB;

export function mostAnswerBytes(question: string | Buffer | undefined): number {
  const asked = question === undefined ? 0 : Buffer.byteLength(question);
  return Math.min(mostBytes, alwaysBytes + asked * bytesPerByte);
}

/** Undefined beyond the bound: nothing is kept of the answer then, and its connection is closed. */
export async function readBounded(body: Readable, most: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early destroys the stream, which ends the connection.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
