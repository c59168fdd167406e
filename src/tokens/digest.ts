/** Keyed digests: equality kept, text and ids not recoverable. The key is random per process and never leaves it. */
import { createHmac } from 'node:crypto';

/** 128 bits of HMAC-SHA-256 over the parts, each preceded by its length so that parts can't run together. */
export function keyedDigest(key: Uint8Array, ...parts: readonly string[]): string {
  const hmac = createHmac('sha256', key);
  for (const part of parts) {
    hmac.update(`${part.length}:`);
    hmac.update(part);
  }
  return hmac.digest().toString('base64url', 0, 16);
}
