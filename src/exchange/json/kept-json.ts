/** Keeps the bytes of a JSON reply, or of one that is too large its end, where engines write their counts. */
import { isObject, parseJson } from './body-reader.ts';
import type { Json, JsonObject } from '../request/request.ts';

/** Kept of a reply that is larger than allowed. */
const tailBytes = 65_536;

/** The whole value; or the last members of an object whose beginning was not kept; or neither: not JSON, or cut. */
export type KeptValue = { readonly whole: Json } | { readonly lastMembers: JsonObject } | undefined;

/** States: whole, until more than `retainedBytes` have come; from then on only the tail. */
export class KeptJson {
  readonly #retainedBytes: number;
  readonly #tailBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isWhole = true;

  constructor(retainedBytes: number) {
    this.#retainedBytes = retainedBytes;
    this.#tailBytes = Math.min(tailBytes, retainedBytes);
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  push(chunk: Buffer): void {
    // A copy: the chunk may be a small view of a large buffer.
    this.#chunks.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes > this.#retainedBytes) this.#isWhole = false;
    if (!this.#isWhole) this.#dropHead();
  }

  value(): KeptValue {
    const bytes = Buffer.concat(this.#chunks);
    if (this.#isWhole) {
      const whole = parseJson(bytes.toString('utf8'));
      return whole === undefined ? undefined : { whole };
    }
    const members = lastMembers(bytes);
    return members === undefined ? undefined : { lastMembers: members };
  }

  #dropHead(): void {
    for (;;) {
      const [first] = this.#chunks;
      if (first === undefined || this.#bytes - first.length < this.#tailBytes) return;
      this.#chunks.shift();
      this.#bytes -= first.length;
    }
  }
}

/**
 * The members of a JSON object that lie wholly within its last bytes. Read from the end: there the position is known to
 * be outside strings, and a quote is one of the syntax exactly if an even number of backslashes stands before it.
 */
export function lastMembers(tail: Buffer): JsonObject | undefined {
  let close = tail.length - 1;
  while (close >= 0 && (tail[close] ?? 0) <= 0x20) close -= 1;
  if (tail[close] !== 0x7d) return undefined;
  let depth = 0;
  let isInString = false;
  let comma: number | undefined;
  for (let at = close; at >= 0; at -= 1) {
    const byte = tail[at];
    if (byte === 0x22) {
      let escapes = at;
      while (escapes > 0 && tail[escapes - 1] === 0x5c) escapes -= 1;
      if ((at - escapes) % 2 === 0) isInString = !isInString;
      at = escapes;
    } else if (!isInString) {
      if (byte === 0x7d || byte === 0x5d) depth += 1;
      else if (byte === 0x7b || byte === 0x5b) depth -= 1;
      else if (byte === 0x2c && depth === 1) comma = at;
      if (depth === 0) break;
    }
  }
  if (comma === undefined) return undefined;
  const members = parseJson(`{${tail.toString('utf8', comma + 1, close + 1)}`);
  return isObject(members) ? members : undefined;
}
