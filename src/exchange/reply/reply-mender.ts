/**
 * Changes the JSON of a reply on its way to the client, whole or event by event, where the request was changed on its way
 * up. Bytes that it is not told to change stay as they are. Never throws.
 */

export interface ReplyMender {
  /** What may go on to the client by now; empty while a part is not complete. */
  push(chunk: Buffer): Buffer;
  /** The rest, once the reply has ended. */
  end(): Buffer;
}

/** @returns the changed JSON; undefined for an event that must not be sent at all */
export type Mend = (json: Buffer) => Buffer | undefined;

/** @param contentType of the reply, lower case */
export function createReplyMender(contentType: string, mend: Mend): ReplyMender {
  return contentType.startsWith('text/event-stream') ? new EventMender(mend) : new BodyMender(mend);
}

const nothing = Buffer.alloc(0);

class BodyMender implements ReplyMender {
  readonly #mend: Mend;
  readonly #parts: Buffer[] = [];

  constructor(mend: Mend) {
    this.#mend = mend;
  }

  push(chunk: Buffer): Buffer {
    this.#parts.push(chunk);
    return nothing;
  }

  end(): Buffer {
    const body = Buffer.concat(this.#parts);
    return this.#mend(body) ?? body;
  }
}

const [lineFeed, carriageReturn, space] = [0x0a, 0x0d, 0x20];
const dataField = Buffer.from('data:');

/** Holds back what is not a whole event yet. Engines write an event's JSON in one line; others pass as they are. */
class EventMender implements ReplyMender {
  readonly #mend: Mend;
  #pending: Buffer = nothing;
  /** Up to here the pending bytes hold no end of an event. */
  #searched = 0;

  constructor(mend: Mend) {
    this.#mend = mend;
  }

  push(chunk: Buffer): Buffer {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const out: Buffer[] = [];
    let start = 0;
    let end = endOfEvent(bytes, this.#searched);
    while (end !== undefined) {
      out.push(this.#event(bytes.subarray(start, end)));
      start = end;
      end = endOfEvent(bytes, start);
    }
    this.#pending = bytes.subarray(start);
    // The end may have come in part: a line feed, and before the next one a carriage return.
    this.#searched = Math.max(0, this.#pending.length - 2);
    return out.length === 1 ? (out[0] ?? nothing) : Buffer.concat(out);
  }

  end(): Buffer {
    return this.#pending;
  }

  #event(event: Buffer): Buffer {
    if (!event.subarray(0, dataField.length).equals(dataField)) return event;
    const lineEnd = event.indexOf(lineFeed);
    const from = event[dataField.length] === space ? dataField.length + 1 : dataField.length;
    const to = event[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd;
    const rest = event.subarray(to);
    if (rest.length > 4) return event;
    const json = this.#mend(event.subarray(from, to));
    return json === undefined ? nothing : Buffer.concat([event.subarray(0, from), json, rest]);
  }
}

/** Offset after the blank line that ends the first event in the bytes. */
function endOfEvent(bytes: Buffer, from: number): number | undefined {
  let at = bytes.indexOf(lineFeed, from);
  while (at >= 0) {
    const next = bytes[at + 1] === carriageReturn ? at + 2 : at + 1;
    if (bytes[next] === lineFeed) return next + 1;
    at = bytes.indexOf(lineFeed, at + 1);
  }
  return undefined;
}
