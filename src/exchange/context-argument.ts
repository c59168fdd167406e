/** By which of its arguments an engine is started with another context: a member of sentences that advise it. */
import type { ModelFacts } from './model-facts.ts';

/** ` (--ctx-size N)`, to stand behind the word that it is about; '' if the argument is not known. */
export function byContextArgument(facts: Pick<ModelFacts, 'contextArgument'> | undefined): string {
  return facts?.contextArgument === undefined ? '' : ` (${facts.contextArgument})`;
}
