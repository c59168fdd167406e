// Reads JSON bodies of requests as llama-server does: what it accepts and refuses differs from JSON.parse in details
// (compressed bodies, a byte order mark, invalid UTF-8, lone surrogates). Never touches the response.
import type { IncomingMessage } from 'node:http';
import { EngineError, invalidRequest } from './engine-error.ts';

/** A JSON object of which nothing is known yet. */
export type Body = Readonly<Record<string, unknown>>;

/** llama-server's own limit; answered 413 without a body. */
const bodyLimitBytes = 100 * 1024 * 1024;

/** A body that is refused before it is read as JSON: an HTTP status without an error envelope. */
export class RefusedBody extends Error {
  readonly status: 413 | 415;
  constructor(status: 413 | 415) {
    super(`body refused with status ${status}`);
    this.name = 'RefusedBody';
    this.status = status;
  }
}

export function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw new RefusedBody(415);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    const bytes = part as Buffer;
    length += bytes.length;
    if (length > bodyLimitBytes) throw new RefusedBody(413);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function refuseLoneSurrogates(_key: string, value: unknown): unknown {
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value))
    throw new SyntaxError('lone surrogate in a string');
  return value;
}

/**
 * @throws EngineError 400 if the body is no JSON object.
 * @throws RefusedBody if it is compressed (415) or larger than `bodyLimitBytes` (413).
 */
export async function readBody(request: IncomingMessage): Promise<Body> {
  const bytes = await readBytes(request);
  let parsed: unknown;
  try {
    // The decoder drops a byte order mark, as llama-server's JSON library does.
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), refuseLoneSurrogates);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable';
    throw new EngineError(
      'invalid_request_error',
      `parse error: the body is no JSON text in UTF-8 (${reason})`,
    );
  }
  if (!isObject(parsed)) throw invalidRequest('the body must be a JSON object');
  return parsed;
}

/** llama-server replaces a value of the wrong type by the default without a word; so does this. */
export function booleanOr(value: unknown, fallback: boolean): boolean {
  return typeof value === 'boolean' ? value : fallback;
}

export function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
