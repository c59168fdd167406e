// What raw-prompt reports and what it leaves alone: above all the uses of a raw route that are meant.
import { rawPrompt } from '../../src/detectors/raw-prompt.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const ids = [[2, 5, 6]];
const raw = (body: ExchangeShape['body'], more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'completion',
  body,
  ids,
  ...more,
});
const question = 'Explain gradient descent.';

testDetector(rawPrompt, {
  clean: [
    {
      name: 'a rendered conversation',
      exchange: raw({ prompt: '<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n' }),
    },
    {
      name: 'a model without a chat template',
      exchange: raw({ prompt: 'Once upon a time' }, { facts: factsOf.base }),
    },
    {
      name: "a model without one, which the engine's default has taken the place of",
      exchange: raw({ prompt: 'Once upon a time' }, { facts: factsOf.defaultTemplate }),
    },
    {
      name: 'a model that is configured as base',
      exchange: raw({ prompt: question }, { modelKind: 'base' }),
    },
    {
      name: 'a fill-in prompt',
      exchange: raw(
        { prompt: '<|fim_prefix|>def f(<|fim_suffix|>:<|fim_middle|>' },
        { facts: factsOf.qwen3 },
      ),
    },
    {
      name: 'a text with another that comes behind it, whatever the engine makes of that',
      exchange: raw({ prompt: 'def f(', suffix: '):\n    pass' }, { facts: factsOf.qwen3 }),
    },
    {
      name: 'a fill-in prompt whose markers are user-defined',
      exchange: raw(
        { prompt: '<fim_prefix>def f(<fim_suffix>:<fim_middle>' },
        {
          facts: {
            ...factsOf.gemma3,
            markers: [...factsOf.gemma3.markers, { text: '<fim_middle>', id: 9, kind: 'user-defined' }],
          },
        },
      ),
    },
    { name: 'ids', exchange: raw({ prompt: [5, 6, 7] }) },
    { name: 'text among ids, which would have to be decoded', exchange: raw({ prompt: [2, 105, question] }) },
    { name: 'a batch of ids', exchange: raw({ prompt: [[5], [6]] }, { ids: [[5], [6]] }) },
    {
      name: 'media',
      exchange: raw(
        { prompt: { prompt_string: 'a <__media__>', multimodal_data: ['AA=='] } },
        { ids: ['media'] },
      ),
    },
    {
      name: 'scoring with echo',
      exchange: raw({ prompt: question, echo: true, logprobs: 1, max_tokens: 0 }),
    },
    { name: 'scoring with log probabilities', exchange: raw({ prompt: question, logprobs: 5 }) },
    { name: 'scoring with n_probs', exchange: raw({ prompt: question, n_probs: 10 }) },
    { name: 'a request for one token', exchange: raw({ prompt: question, n_predict: 1 }) },
    { name: 'an empty prompt', exchange: raw({ prompt: '' }) },
    { name: 'BOS and white space alone', exchange: raw({ prompt: '<bos> \n' }) },
    {
      name: 'a chat',
      exchange: { route: 'chat', body: { messages: [{ role: 'user', content: question }] }, ids },
    },
    {
      name: 'a text format whose role words are no markers',
      exchange: raw(
        { prompt: 'User: hi\n\nAssistant:' },
        { facts: { ...factsOf.base, roleMarkers: [{ role: 'user', opening: 'User: ' }] } },
      ),
    },
  ],
  found: [
    {
      name: 'a text that begins with content parts that it quotes',
      exchange: raw({ prompt: "[{'type': 'text', 'text': 'hello'}] was in the log. What is it?" }),
      findings: [{ cause: 'plain-text' }],
    },
    {
      name: 'a text with an empty one behind it',
      exchange: raw({ prompt: question, suffix: '' }),
      findings: [{ cause: 'plain-text' }],
    },
    {
      name: "the engine's default, for a model that is configured as instruct",
      exchange: raw({ prompt: question }, { facts: factsOf.defaultTemplate, modelKind: 'instruct' }),
      findings: [{ cause: 'plain-text', severity: 'warning' }],
    },
    {
      name: 'plain text',
      exchange: raw({ prompt: question, max_tokens: 256 }),
      findings: [
        {
          cause: 'plain-text',
          severity: 'warning',
          culprit: 'client',
          field: 'prompt',
          promptIndex: 0,
          tokens: { start: 0, end: 3 },
        },
      ],
    },
    {
      name: 'a long text, at its head',
      exchange: raw({ prompt: question }, { ids: [[2, 5, 6, 7, 8, 9]] }),
      findings: [{ tokens: { start: 0, end: 4 } }],
    },
    {
      name: 'a text of which no id is known yet: it has no place',
      exchange: raw({ prompt: question }, { ids: [[]] }),
      findings: [{}],
    },
    {
      name: 'a text whose ids the engine does not tell: no place either',
      exchange: raw({ prompt: question }, { ids: ['oracle-timeout'] }),
      findings: [{}],
    },
    {
      name: 'role words in plain text',
      exchange: raw({ prompt: 'User: sort a list\nAssistant:' }),
      findings: [{}],
    },
    {
      name: 'code that holds the text of EOS',
      exchange: raw({ prompt: 'println!("<eos>"); what does this print?' }),
      findings: [{ cause: 'plain-text' }],
    },
    {
      name: 'markup whose tags are tokens of the vocabulary',
      exchange: raw(
        { prompt: '<ul><li>Soup</li></ul> Translate this menu.' },
        {
          facts: {
            ...factsOf.gemma3,
            markers: [...factsOf.gemma3.markers, { text: '<ul>', id: 171, kind: 'user-defined' }],
          },
        },
      ),
      findings: [{ cause: 'plain-text' }],
    },
    { name: 'one token of text', exchange: raw({ prompt: 'é' }), findings: [{}] },
    { name: 'BOS text and plain text', exchange: raw({ prompt: `<bos>${question}` }), findings: [{}] },
    {
      name: 'a BOS id and plain text',
      exchange: raw({ prompt: [2, question] }),
      findings: [{ field: 'prompt' }],
    },
    {
      name: 'log probabilities switched off',
      exchange: raw({ prompt: question, logprobs: 0, echo: false }),
      findings: [{}],
    },
    {
      name: 'one prompt of a batch',
      exchange: raw(
        { prompt: ['<start_of_turn>user\nHi', question] },
        {
          ids: [
            [2, 105],
            [2, 5],
          ],
        },
      ),
      findings: [{ promptIndex: 1, field: 'prompt[1]' }],
    },
    {
      name: 'a model whose name says that it may be a base model',
      exchange: raw({ prompt: question }, { facts: { ...factsOf.qwen3, modelName: 'Qwen3-0.6B-Base' } }),
      findings: [{ cause: 'maybe-base', severity: 'info' }],
    },
    {
      name: 'the same, configured as instruct',
      exchange: raw(
        { prompt: question },
        { facts: { ...factsOf.qwen3, modelName: 'Qwen3-0.6B-Base' }, modelKind: 'instruct' },
      ),
      findings: [{ cause: 'plain-text', severity: 'warning' }],
    },
    {
      name: 'a name that only contains the letters',
      exchange: raw({ prompt: question }, { facts: { ...factsOf.qwen3, modelName: 'database-assistant' } }),
      findings: [{ severity: 'warning' }],
    },
  ],
});
