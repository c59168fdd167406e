/**
 * Finds prompts whose ids are not those of a reference. Only where somebody brought one along, as fixtures do in CI: live
 * traffic has none. Judges neither of the two; the place and its depth say where to look.
 */
import { counted } from '../exchange/counted.ts';
import type { Detector } from './detector.ts';
import type { Culprit, Finding } from '../exchange/finding.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { referenceIds, type Reference, type ReferenceMaker } from '../exchange/reference.ts';
import { divergenceOf, type Divergence } from '../tokens/divergence.ts';

export const templateDrift: Detector = {
  kind: 'template-drift',
  summary: "The prompt's ids are not those of the reference that the request was given.",
  stage: 'request',
  need: 'ids',
  severity: 'warning',
  repairs: false,
  detect({ reference, facts, prompts }) {
    if (reference === undefined || facts === undefined) return [];
    return prompts.flatMap((read, promptIndex) => {
      const expected = referenceIds(reference, promptIndex);
      if (!read.known || expected === undefined) return [];
      const divergence = divergenceOf(
        { name: 'The reference', ids: Uint32Array.from(expected), facts },
        { name: "The engine's prompt", ids: read.ids, facts },
      );
      if (divergence === undefined) return [];
      const counts = { expected: expected.length, given: read.ids.length };
      return [findingOf(divergence, reference, counts, promptIndex, facts)];
    });
  },
};

interface Maker {
  readonly culprit: Culprit;
  /** What the ids of the reference are, in a sentence. */
  readonly are: string;
  readonly advice: string;
}

const makers: Readonly<Record<ReferenceMaker, Maker>> = {
  golden: {
    culprit: 'template',
    are: 'the golden file has',
    advice:
      'Look at what the place shows. If the new prompt is the right one, write the golden file anew (tokenweir golden --update); if not, the template or the build that made it must go back.',
  },
  transformers: {
    culprit: 'engine',
    are: 'Transformers makes',
    advice:
      'Look at what the place shows: the engine renders or tokenizes the request in another way than the model was trained with. Whoever serves the model can give it another template, or a build that renders this one right.',
  },
};

function findingOf(
  { position, depth, message }: Divergence,
  { by }: Reference,
  { expected, given }: { readonly expected: number; readonly given: number },
  promptIndex: number,
  { templateWritesDate }: ModelFacts,
): Finding {
  const { culprit, are, advice } = makers[by];
  // Where the engine's prompt ends first, its last token is the place.
  const start = Math.min(position, given - 1);
  const dated = templateWritesDate
    ? ' The template writes the date, so a reference of another day differs there: give it a fixed one, in chat_template_kwargs if it reads one.'
    : '';
  return {
    kind: 'template-drift',
    cause: depth,
    severity: 'warning',
    culprit,
    promptIndex,
    ...(given > 0 && { tokens: { start, end: start + 1 } }),
    message: `The engine feeds the model ${counted(given, 'token')} where ${are} ${expected}. ${message}`,
    advice: advice + dated,
  };
}
