/**
 * Steps over JSON in its original bytes, without recursion and without building values. It judges no syntax: on bytes
 * that are not JSON it ends somewhere inside the buffer, and never throws.
 */

const quote = 0x22;
const backslash = 0x5c;
/** Bytes looked at one by one before asking for the next quote natively: a native call costs about as much. */
const nearBytes = 64;

/** What stands in a body, counted before anything is built from it. */
export interface JsonMeasure {
  /** Deepest nesting of arrays and objects; 0 for a scalar. */
  readonly depth: number;
  /** An upper bound for the number of values and keys. */
  readonly values: number;
}

/** Offset at which JSON starts: behind a byte order mark, which nlohmann's parser and Python's read over. */
export function jsonStart(body: Buffer): number {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
}

/**
 * What nlohmann's parser reads of a body: its lexer takes a NUL for the end of the input, so that whatever follows is
 * accepted unread. Within a string a NUL is refused, and what is left here of such a body is no JSON either.
 */
export function jsonIn(body: Buffer): Buffer {
  const end = body.indexOf(0);
  return body.subarray(jsonStart(body), end === -1 ? body.length : end);
}

/** True if the parsers of other engines refuse the body for where it ends. */
export function holdsNul(body: Buffer): boolean {
  return body.includes(0);
}

/** Offset of the first byte that is not JSON white space. */
export function skipSpace(body: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = body[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at += 1;
  }
}

/** Offset of the quote that closes the string whose first content byte is at `from`; the body's length if none does. */
export function closingQuote(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length) {
    const near = Math.min(at + nearBytes, body.length);
    while (at < near) {
      const byte = body[at];
      if (byte === quote) return at;
      at += byte === backslash ? 2 : 1;
    }
    if (at >= body.length) break;
    const found = body.indexOf(quote, at);
    if (found === -1) break;
    let escapes = found;
    while (escapes > at && body[escapes - 1] === backslash) escapes -= 1;
    if ((found - escapes) % 2 === 0) return found;
    at = found + 1;
  }
  return body.length;
}

/** Offset just after the value that starts at `from`. */
export function skipValue(body: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < body.length) {
    const byte = body[at];
    if (byte === quote) {
      at = Math.min(closingQuote(body, at + 1) + 1, body.length);
      if (depth === 0) return at;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      at += 1;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return at;
      depth -= 1;
      at += 1;
      if (depth === 0) return at;
    } else if (depth === 0) {
      return skipScalar(body, at);
    } else {
      at += 1;
    }
  }
  return body.length;
}

/** Offset just after the number, `true`, `false` or `null` that starts at `from`. */
function skipScalar(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length) {
    const byte = body[at] ?? 0;
    if (byte <= 0x20 || byte === 0x2c || byte === 0x3a || byte === 0x5d || byte === 0x7d) return at;
    at += 1;
  }
  return at;
}

/** Counts in one pass; stops early, with what it has, once there are more values than that. */
export function measureJson(body: Buffer, mostValues: number): JsonMeasure {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let at = 0;
  while (at < body.length) {
    const byte = body[at];
    if (byte === quote) at = closingQuote(body, at + 1);
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === 0x2c || byte === 0x3a) values += 1;
    if (values > mostValues) break;
    at += 1;
  }
  return { depth: deepest, values };
}
