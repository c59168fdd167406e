// What counts as another prompt than the reference's, and where it is said to begin.
import { templateDrift } from '../../src/detectors/template-drift.ts';
import type { Reference } from '../../src/exchange/reference.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const [start, end, newline] = [151_644, 151_645, 198];
const turn = [start, 872, newline, 13_048, end, newline];
const opening = [start, 77_091, newline];
const prompt = [...turn, ...opening];

const chat = (ids: NonNullable<ExchangeShape['ids']>, reference?: Reference): ExchangeShape => ({
  route: 'chat',
  body: { messages: [{ role: 'user', content: 'Hi' }] },
  facts: factsOf.qwen3,
  ids,
  ...(reference && { reference }),
});
const batch = (ids: NonNullable<ExchangeShape['ids']>, reference: Reference): ExchangeShape => ({
  ...chat(ids, reference),
  route: 'completion',
  body: { prompt: ['Hi', 'Ho'] },
});
const golden = (ids: Reference['ids']): Reference => ({ by: 'golden', ids });

testDetector(templateDrift, {
  clean: [
    { name: 'a request without a reference, as all traffic is', exchange: chat([prompt]) },
    { name: 'the same ids', exchange: chat([prompt], golden(prompt)) },
    { name: 'the same ids in each prompt', exchange: batch([turn, opening], golden([turn, opening])) },
    { name: 'a prompt of which the reference says nothing', exchange: batch([turn, opening], golden(turn)) },
    { name: 'a prompt that is not known', exchange: chat(['media'], golden(prompt)) },
  ],
  found: [
    {
      name: 'another text, at its first token',
      exchange: chat([prompt], golden([...turn.with(3, 9707), ...opening])),
      findings: [
        {
          cause: 'content',
          severity: 'warning',
          culprit: 'template',
          promptIndex: 0,
          tokens: { start: 3, end: 4 },
          message:
            'The engine feeds the model 9 tokens where the golden file has 9. The prompts are the same for 3 tokens of 9, so the wire format is; then the content differs (a text, or what the template makes of it).',
        },
      ],
    },
    {
      name: 'another head',
      exchange: chat([prompt], golden([151_643, ...prompt])),
      findings: [{ cause: 'wire-format', tokens: { start: 0, end: 1 } }],
    },
    {
      name: 'a generation prompt that the engine leaves out, at the last token that there is',
      exchange: chat([turn], { by: 'transformers', ids: prompt }),
      findings: [
        {
          cause: 'generation-prompt',
          culprit: 'engine',
          tokens: { start: 5, end: 6 },
          message:
            'The engine feeds the model 6 tokens where Transformers makes 9. The reference goes on where the other ends, with 3 tokens: exactly the generation prompt.',
        },
      ],
    },
    {
      name: 'the second prompt of two',
      exchange: batch([turn, opening], golden([turn, turn])),
      findings: [{ promptIndex: 1, tokens: { start: 1, end: 2 } }],
    },
    {
      name: 'no prompt at all, which has no place',
      exchange: chat([[]], golden(prompt)),
      findings: [{ cause: 'generation-prompt' }],
    },
    {
      name: 'a template that writes the date, with what to do about that',
      exchange: {
        ...chat([prompt], golden(turn)),
        facts: { ...factsOf.qwen3, templateWritesDate: true },
      },
      findings: [
        {
          advice:
            'Look at what the place shows. If the new prompt is the right one, write the golden file anew (tokenweir golden --update); if not, the template or the build that made it must go back. The template writes the date, so a reference of another day differs there: give it a fixed one, in chat_template_kwargs if it reads one.',
        },
      ],
    },
  ],
});
