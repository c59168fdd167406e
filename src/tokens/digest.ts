/** Keyed digests: equality kept, text and ids not recoverable. The key is random per process and never leaves it. */
import { hash } from 'node:crypto';

const keyTexts = new WeakMap<Uint8Array, string>();

/**
 * 128 bits of SHA-256 over the key and the parts, each preceded by its length so that parts can't run together. Half of
 * the hash is left out, so nothing can be appended to what was digested; in one call, because every segment and message
 * of every turn is digested and an HMAC object for each took three times as long.
 */
export function keyedDigest(key: Uint8Array, ...parts: readonly string[]): string {
  let text = keyTexts.get(key);
  if (text === undefined) {
    text = Buffer.from(key).toString('hex');
    keyTexts.set(key, text);
  }
  for (const part of parts) text += `${part.length}:${part}`;
  return hash('sha256', text, 'base64url').slice(0, 22);
}
