/**
 * Reads request bodies without stopping the event loop: small ones at once, large ones in a worker thread that hands
 * the result over in pieces. Never changes or keeps a body; the bytes that a worker sees are a copy.
 */
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { isObject } from '../exchange/json/body-reader.ts';
import { JsonJoiner } from '../exchange/json/json-pieces.ts';
import { readRequest, shapeRequest, type RequestKind } from '../exchange/request/request-reader.ts';
import type { RequestReading } from '../exchange/request/request.ts';
import { ParsePool } from './parse-pool.ts';

export interface RequestParser {
  /**
   * The typed request. Rejects only if the worker died over this body or the parser was closed: the body then counts
   * as not inspected.
   */
  read(body: Buffer, kind: RequestKind): Promise<RequestReading>;
  /** Ends the workers; reads that wait for one are rejected. */
  close(): Promise<void>;
}

export interface RequestParserOptions {
  /** Largest body that is read on the main thread (1 MiB takes about 3 ms); asked anew for each. */
  readonly workerBytes: () => number;
  /** Workers at most, each started when it is first needed. @defaultValue 2: a large body does not hold up the next */
  readonly workers?: number;
}

/** Bytes copied for a worker before other events get their turn: fresh memory costs more than the copy itself. */
const copyBytes = 1_048_576;

export function createRequestParser({ workerBytes, workers = 2 }: RequestParserOptions): RequestParser {
  const pool = new ParsePool(workers);
  return {
    read: async (body, kind) =>
      body.length <= workerBytes() ? readRequest(body, kind) : readInWorker(pool, body, kind),
    close: () => pool.close(),
  };
}

async function readInWorker(pool: ParsePool, body: Buffer, kind: RequestKind): Promise<RequestReading> {
  return pool.use(async (thread) => {
    const bytes = await copyOf(body);
    let message = await thread.ask({ type: 'read', bytes }, [bytes]);
    const joiner = new JsonJoiner();
    while (message.type === 'piece') {
      joiner.add(message.piece);
      await yieldToEvents();
      message = await thread.ask({ type: 'more' });
    }
    if (message.type === 'unreadable') return { readable: false, reason: message.reason };
    const json = joiner.result;
    if (!isObject(json)) throw new Error('the parse worker ended a body without a JSON object');
    return shapeRequest(body, json, kind);
  });
}

async function copyOf(body: Buffer): Promise<ArrayBuffer> {
  const copy = Buffer.from(new ArrayBuffer(body.length));
  for (let start = 0; start < body.length; start += copyBytes) {
    body.copy(copy, start, start, Math.min(start + copyBytes, body.length));
    await yieldToEvents();
  }
  return copy.buffer;
}
