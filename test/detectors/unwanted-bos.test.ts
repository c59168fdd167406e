// What counts as a BOS that nobody wants, and what the engine rightly adds.
import { unwantedBos } from '../../src/detectors/unwanted-bos.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const raw = (prompt: unknown, ids: ExchangeShape['ids'], facts?: ExchangeShape['facts']): ExchangeShape => ({
  route: 'completion',
  body: JSON.stringify({ prompt }),
  ids: ids!,
  ...(facts && { facts }),
});
const chat = (ids: ExchangeShape['ids'], facts: ExchangeShape['facts']): ExchangeShape => ({
  route: 'chat',
  body: { messages: [{ role: 'user', content: 'Hi' }] },
  ids: ids!,
  facts: facts!,
});
const notInTemplate = { ...factsOf.gemma3, templateWritesBos: false };

testDetector(unwantedBos, {
  clean: [
    { name: 'a text with the BOS that the template writes too', exchange: raw('Hi', [[2, 5]]) },
    { name: 'a chat with it', exchange: chat([[2, 105]], factsOf.gemma3) },
    { name: 'a base model without a template', exchange: raw('Once', [[1, 5]], factsOf.base) },
    { name: 'a template of which nothing is known', exchange: chat([[1, 3]], factsOf.mistral) },
    { name: 'a family without BOS', exchange: chat([[151_644]], factsOf.qwen3) },
    { name: 'a text of a family without BOS', exchange: raw('Hi', [[13_048]], factsOf.qwen3) },
    { name: 'two other preamble tokens', exchange: chat([[151_331, 151_333]], factsOf.glm) },
    { name: 'BOS by the template alone', exchange: chat([[2, 105]], factsOf.bosByTemplate) },
    {
      name: "a template that is not the model's own: its markers are none of the vocabulary",
      exchange: chat([[1, 5]], {
        ...factsOf.base,
        templateWritesBos: false,
        roleMarkers: factsOf.qwen3.roleMarkers,
      }),
    },
    { name: 'ids, to which nothing is added', exchange: raw([11, 5], [[11, 5]], factsOf.bosByDefault) },
    { name: 'ids in front of text', exchange: raw([11, 'Hi'], [[11]], factsOf.bosByDefault) },
    {
      name: "the client's own BOS where it had the engine's switched off",
      exchange: {
        ...raw('', [[5]], factsOf.bosByDefault),
        body: { prompt: 'Hi', add_special_tokens: false },
      },
    },
    { name: 'an empty prompt of a family without BOS', exchange: raw('', [[]], factsOf.qwen3) },
    {
      name: 'media',
      exchange: raw({ prompt_string: 'a', multimodal_data: ['AA=='] }, ['media'], factsOf.bosByDefault),
    },
  ],
  found: [
    {
      name: 'an ordinary token in front of a chat',
      exchange: chat([[11, 151_644]], factsOf.bosByDefault),
      findings: [
        {
          cause: 'ordinary-token',
          severity: 'warning',
          culprit: 'model-file',
          promptIndex: 0,
          tokens: { start: 0, end: 1 },
          message:
            'The engine puts an ordinary token (",", id 11) in front as BOS, and the chat template writes none: the model file names no BOS, so a default took its place.',
        },
      ],
    },
    {
      name: 'an ordinary token in front of texts, not in front of ids',
      exchange: raw(['Hé', [11, 5], ''], [[11, 5], [11, 5], [11]], factsOf.bosByDefault),
      findings: [{ promptIndex: 0 }, { promptIndex: 2 }],
    },
    {
      name: 'a text in front of ids',
      exchange: raw(['Hi', 5], [[11, 5]], factsOf.bosByDefault),
      findings: [{ cause: 'ordinary-token' }],
    },
    {
      name: 'a BOS that the template never writes: a fact to look up, no accusation',
      exchange: chat([[2, 105]], notInTemplate),
      findings: [{ cause: 'not-in-template', severity: 'info', culprit: 'model-file' }],
    },
    {
      name: 'the same in front of a text',
      exchange: raw('Hi', [[2, 5]], notInTemplate),
      findings: [{ severity: 'info' }],
    },
  ],
});
