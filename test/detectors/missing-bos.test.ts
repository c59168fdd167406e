// Where a BOS is missing and who left it out; above all the models and prompts that are right without one.
import { missingBos } from '../../src/detectors/missing-bos.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const raw = (
  prompt: unknown,
  ids: ExchangeShape['ids'],
  more: Partial<ExchangeShape> = {},
): ExchangeShape => ({
  route: 'completion',
  body: JSON.stringify({ prompt }),
  ids: ids!,
  ...more,
});
const chat = (ids: ExchangeShape['ids'], more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'chat',
  body: { messages: [{ role: 'user', content: 'Hi' }] },
  ids: ids!,
  ...more,
});
const fillInIds = {
  ...factsOf.gemma3,
  markers: [{ text: '<|fim_prefix|>', id: 67 }, ...factsOf.gemma3.markers],
};
const noBosAnywhere = { ...factsOf.bosByTemplate, templateWritesBos: false };
const unknownTemplate = { ...factsOf.base, addedPrefix: { chat: [], completion: [] } };
/** The template of a chat route owns BOS, and writes none; raw texts get one from the tokenizer. */
const ownedByTemplate = {
  ...factsOf.gemma3,
  templateWritesBos: false,
  addedPrefix: { chat: [], completion: [2] },
};

testDetector(missingBos, {
  clean: [
    { name: 'a text to which the engine adds BOS', exchange: raw('Hi', [[2, 5, 6]]) },
    { name: 'a chat', exchange: chat([[2, 105, 7]]) },
    { name: 'a chat that lost its end', exchange: chat([[2, 105, 7]], { cut: 'end' }) },
    { name: 'a text that kept its BOS', exchange: raw('Hi', [[2, 6]], { cut: 'start' }) },
    { name: 'a chat of no messages', exchange: chat([[105, 4368]], { body: { messages: [] } }) },
    { name: 'a prompt of no ids', exchange: raw([[]], [[]]) },
    { name: 'ids that begin with BOS', exchange: raw([2, 5], [[2, 5]]) },
    { name: 'ids in front of text, BOS first', exchange: raw([2, 105, 'Hi'], [[2, 105]]) },
    { name: 'BOS twice, which is another mistake', exchange: raw('<bos>Hi', [[2, 2, 5]]) },
    { name: 'a family without BOS', exchange: raw('Hi', [[5, 6]], { facts: factsOf.qwen3 }) },
    { name: 'ids of a family without BOS', exchange: raw([5, 6], [[5, 6]], { facts: factsOf.qwen3 }) },
    { name: 'a chat of a family without BOS', exchange: chat([[151_644, 872]], { facts: factsOf.qwen3 }) },
    { name: 'two other preamble tokens', exchange: chat([[151_331, 151_333]], { facts: factsOf.glm }) },
    { name: 'a base model that is given BOS', exchange: raw('Once', [[1, 5]], { facts: factsOf.base }) },
    {
      name: 'a base model whose facts ask for none',
      exchange: raw('Once', [[5]], { facts: unknownTemplate }),
    },
    {
      name: 'a text of a model whose template writes none',
      exchange: raw('Hi', [[5]], { facts: noBosAnywhere }),
    },
    {
      name: 'a chat whose template owns BOS and writes none',
      exchange: chat([[105, 7]], { facts: ownedByTemplate }),
    },
    { name: 'a fill-in prompt of ids', exchange: raw([67, 5, 6], [[67, 5, 6]], { facts: fillInIds }) },
    {
      name: 'a fill-in text',
      exchange: raw('<|fim_prefix|>def f(', [[67, 5]], { facts: factsOf.bosByTemplate }),
    },
    {
      name: 'literal BOS where the engine adds none',
      exchange: raw('<bos>Hi', [[2, 5]], { facts: factsOf.bosByTemplate }),
    },
    {
      name: 'a chat whose template writes BOS',
      exchange: chat([[2, 105]], { facts: factsOf.bosByTemplate }),
    },
    { name: 'an empty text', exchange: raw('', [[]], { facts: factsOf.bosByTemplate }) },
    { name: 'one token, BOS alone', exchange: raw('', [[2]]) },
    {
      name: 'add_special_tokens: false on a text that carries BOS',
      exchange: {
        route: 'completion',
        body: { prompt: '<bos>Hi', add_special_tokens: false },
        ids: [[2, 5]],
      },
    },
    { name: 'media', exchange: raw({ prompt_string: 'a', multimodal_data: ['AA=='] }, ['media']) },
    { name: 'ids that are not known', exchange: chat(['oracle-timeout']) },
  ],
  found: [
    {
      name: 'a chat of which the client has the start cut off',
      exchange: chat([[107, 105, 4368]], {
        cut: 'start',
        body: { messages: [{ role: 'user', content: 'Hi' }], truncate_prompt_tokens: 3 },
      }),
      findings: [{ cause: 'cut-off', culprit: 'client', severity: 'error', field: 'truncate_prompt_tokens' }],
    },
    {
      name: 'ids without BOS',
      exchange: raw([105, 2364, 107], [[105, 2364, 107]]),
      findings: [
        {
          cause: 'ids',
          culprit: 'client',
          severity: 'error',
          field: 'prompt',
          promptIndex: 0,
          tokens: { start: 0, end: 1 },
          message:
            'The prompt does not start with BOS (<bos>, id 2): the engine puts one in front of texts, and the client sent ids, to which none is added.',
          advice: 'Put the id 2 in front of the ids.',
        },
      ],
    },
    { name: 'a single id', exchange: raw([5], [[5]]), findings: [{ cause: 'ids' }] },
    { name: 'ids in front of text', exchange: raw([105, 'Hé'], [[105]]), findings: [{ cause: 'ids' }] },
    { name: 'BOS in a later place', exchange: raw([5, 2, 6], [[5, 2, 6]]), findings: [{ cause: 'ids' }] },
    {
      name: 'one prompt of a batch',
      exchange: raw(
        [
          [2, 5],
          [5, 6],
        ],
        [
          [2, 5],
          [5, 6],
        ],
      ),
      findings: [{ promptIndex: 1, field: 'prompt[1]' }],
    },
    {
      name: 'a text with BOS switched off',
      exchange: { route: 'completion', body: { prompt: 'Hi', add_special_tokens: false }, ids: [[5, 6]] },
      findings: [{ cause: 'switched-off', culprit: 'client', field: 'add_special_tokens' }],
    },
    {
      name: 'a text for a model file that adds none though its template writes one',
      exchange: raw('Hi', [[5]], { facts: factsOf.bosByTemplate }),
      findings: [{ cause: 'model-file', culprit: 'model-file', field: 'prompt' }],
    },
    {
      name: 'the same as a base model',
      exchange: raw('Once', [[]], { facts: factsOf.bosByTemplate, modelKind: 'base' }),
      findings: [{ cause: 'model-file' }],
    },
    {
      name: 'a chat that the template leaves without the BOS that it writes otherwise',
      exchange: chat([[105, 5]], { facts: factsOf.bosByTemplate }),
      findings: [{ cause: 'template', culprit: 'template' }],
    },
  ],
});
