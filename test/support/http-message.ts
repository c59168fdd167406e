/** Reads HTTP/1.1 messages from raw bytes for tests: keeps the head as sent and the body without its framing. */

export interface HttpMessage {
  /** Start line and header lines, latin1, with the blank line. */
  readonly head: string;
  readonly startLine: string;
  /** In order, case and repetition as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** All values of a field, in order. */
export function valuesOf(message: Pick<HttpMessage, 'headers'>, name: string): string[] {
  return message.headers
    .filter(([sent]) => sent.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value);
}

function parseHead(head: string): Omit<HttpMessage, 'body'> {
  const [startLine = '', ...lines] = head.slice(0, -4).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  return { head, startLine, headers };
}

/** How the end of a body is known. */
type Framing =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

/**
 * Takes bytes as they come and says when a message's head and body are there.
 * `bodyless` tells, from the head, that no body follows whatever the headers say (HEAD, 204, 304).
 */
export class MessageReader {
  #pending: Buffer = Buffer.alloc(0);
  #head: Omit<HttpMessage, 'body'> | undefined;
  #framing: Framing = { kind: 'length', length: 0 };
  #body: Buffer[] = [];
  #bodyBytes = 0;
  readonly #isRequest: boolean;
  readonly #bodyless: (startLine: string) => boolean;

  constructor(kind: 'request' | 'response', bodyless: (startLine: string) => boolean = () => false) {
    this.#isRequest = kind === 'request';
    this.#bodyless = bodyless;
  }

  /** Absent until the blank line has come. */
  get head(): Omit<HttpMessage, 'body'> | undefined {
    if (!this.#head) this.#readHead();
    return this.#head;
  }
  /** What has come of the body, framing removed. */
  get body(): Buffer {
    return Buffer.concat(this.#body);
  }
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  push(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
  }

  /** The next message if it is complete; `closed` says that no more bytes will come. */
  next(closed = false): HttpMessage | undefined {
    if (!this.#head && !this.#readHead()) return undefined;
    if (!this.#readBody(closed)) return undefined;
    const message = { ...this.#head!, body: this.body };
    this.#head = undefined;
    this.#body = [];
    this.#bodyBytes = 0;
    return message;
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf('\r\n\r\n');
    if (end === -1) return false;
    this.#head = parseHead(this.#pending.toString('latin1', 0, end + 4));
    this.#pending = this.#pending.subarray(end + 4);
    const [length] = valuesOf(this.#head, 'content-length');
    if (this.#bodyless(this.#head.startLine)) this.#framing = { kind: 'length', length: 0 };
    else if (valuesOf(this.#head, 'transfer-encoding').length > 0) this.#framing = { kind: 'chunked' };
    else if (length !== undefined || this.#isRequest)
      this.#framing = { kind: 'length', length: Number(length ?? 0) };
    else this.#framing = { kind: 'close' };
    return true;
  }

  #take(bytes: number): void {
    this.#body.push(this.#pending.subarray(0, bytes));
    this.#bodyBytes += bytes;
    this.#pending = this.#pending.subarray(bytes);
  }

  #readBody(closed: boolean): boolean {
    switch (this.#framing.kind) {
      case 'close':
        this.#take(this.#pending.length);
        return closed;
      case 'length':
        this.#take(Math.min(this.#framing.length - this.#bodyBytes, this.#pending.length));
        return this.#bodyBytes === this.#framing.length;
      case 'chunked':
        return this.#readChunks();
    }
  }

  #readChunks(): boolean {
    for (;;) {
      const lineEnd = this.#pending.indexOf('\r\n');
      if (lineEnd === -1) return false;
      const size = parseInt(this.#pending.toString('latin1', 0, lineEnd), 16);
      if (size === 0) {
        const end = this.#pending.indexOf('\r\n\r\n', lineEnd);
        if (end === -1) return false;
        this.#pending = this.#pending.subarray(end + 4);
        return true;
      }
      if (this.#pending.length < lineEnd + 2 + size + 2) return false;
      this.#pending = this.#pending.subarray(lineEnd + 2);
      this.#take(size);
      this.#pending = this.#pending.subarray(2);
    }
  }
}
