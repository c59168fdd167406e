/** Short digests of what an engine shows of itself: to see that it changed, never to hide what it is. */
import { createHash } from 'node:crypto';

import type { ModelFacts } from '../exchange/model-facts.ts';

export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** @param template '' if the model has none; undefined if the engine does not show it */
export function templateFacts(
  template: string | undefined,
): Pick<ModelFacts, 'templateHash' | 'templateFirstLine'> {
  return {
    templateHash: template === undefined || template === '' ? '' : fingerprint(template),
    templateFirstLine: template?.split('\n', 1)[0]?.slice(0, 200) ?? '',
  };
}
