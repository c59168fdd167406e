// Ways in which a model can be served, as the doctor sees them; made from the facts of real families.
import type { Serving } from '../../src/doctor/diagnosis.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { factsOf } from '../support/exchange-builder.ts';

export function servingOf(
  family: keyof typeof factsOf,
  changed: Partial<ModelFacts> = {},
  rest: Partial<Serving> = {},
): Serving {
  const facts: ModelFacts = { ...factsOf[family], ...changed };
  return {
    facts,
    routes: { chat: ['/v1/chat/completions'], text: ['/completion', '/v1/completions'] },
    chatBosTokens: facts.bos === undefined ? 0 : 1,
    trainedContextTokens: 0,
    ...rest,
  };
}
