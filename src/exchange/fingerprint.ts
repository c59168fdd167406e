/** Short digests of what an engine shows of itself: to see that it changed, never to hide what it is. */
import { createHash } from 'node:crypto';

export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
