/** What the facts keep of a template's source. */
import { fingerprint } from '../exchange/fingerprint.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';

/** @param template '' if the model has none; undefined if the engine does not show it */
export function templateFacts(
  template: string | undefined,
): Pick<ModelFacts, 'templateHash' | 'templateFirstLine'> {
  return {
    templateHash: template === undefined || template === '' ? '' : fingerprint(template),
    templateFirstLine: template?.split('\n', 1)[0]?.slice(0, 200) ?? '',
  };
}
