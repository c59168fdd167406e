/**
 * The worker thread that reads large bodies for request-parser.ts. It sends what it read in pieces, one per request
 * for more, so that the main thread is never given more than it can take over in a few milliseconds.
 */
import { parentPort } from 'node:worker_threads';
import { readBody } from '../exchange/json/body-reader.ts';
import { takeApart, type JsonPiece } from '../exchange/json/json-pieces.ts';
import { holdsTooMuchText } from '../exchange/request/message-text.ts';
import type { UnreadableReason } from '../exchange/request/request.ts';

/** `read` starts a body and drops what was left of the one before; `more` asks for the next piece. */
export type ToParseWorker =
  { readonly type: 'read'; readonly bytes: ArrayBuffer } | { readonly type: 'more' };

/** The answer to each of the above. */
export type FromParseWorker =
  | { readonly type: 'unreadable'; readonly reason: UnreadableReason }
  | { readonly type: 'piece'; readonly piece: JsonPiece }
  | { readonly type: 'done' };

/** Values and keys per piece: 2–6 ms of the main thread's time. */
const pieceValues = 32_768;

let pieces: Iterator<JsonPiece, void, undefined> = [].values();

function answer(message: ToParseWorker): FromParseWorker {
  if (message.type === 'read') {
    const reading = readBody(Buffer.from(message.bytes));
    if (!reading.readable) return { type: 'unreadable', reason: reading.reason };
    if (holdsTooMuchText(reading.json)) return { type: 'unreadable', reason: 'too-much-text' };
    pieces = takeApart(reading.json, pieceValues);
  }
  const next = pieces.next();
  if (next.done !== true) return { type: 'piece', piece: next.value };
  pieces = [].values();
  return { type: 'done' };
}

parentPort?.on('message', (message: ToParseWorker) => {
  parentPort?.postMessage(answer(message));
});
