// Facts in, advice out: which advice for which model, and who is told what.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adviseOn } from '../../src/doctor/advice.ts';
import { adviceIds, type AdviceId, type Serving } from '../../src/doctor/diagnosis.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { factsOf } from '../support/exchange-builder.ts';
import { servingOf } from './serving.ts';

/** What is said of Gemma 3 whatever else is true of it. */
const ofGemma = ['bos-added-to-text', 'raw-text-untemplated', 'markers-in-user-text'] as const;

const cases: readonly {
  readonly name: string;
  readonly serving: Serving;
  readonly ids: readonly AdviceId[];
}[] = [
  { name: 'a tokenizer that adds BOS', serving: servingOf('gemma3'), ids: ofGemma },
  {
    name: 'no BOS at all, and a think tail',
    serving: servingOf('qwen3'),
    ids: ['no-bos', 'raw-text-untemplated', 'markers-in-user-text', 'think-tail'],
  },
  {
    name: 'a template that repeats BOS: the gravest comes first',
    serving: servingOf('gemma3', {}, { chatBosTokens: 2 }),
    ids: ['chat-bos-repeated', ...ofGemma],
  },
  {
    name: 'a template that writes the only BOS',
    serving: servingOf('gemma3', { addedPrefix: { chat: [], completion: [] } }),
    ids: ['text-without-bos', 'raw-text-untemplated', 'markers-in-user-text'],
  },
  {
    name: 'a chat prompt that could not be rendered: nothing is said about its BOS',
    serving: (() => {
      const { facts, routes } = servingOf('gemma3', { addedPrefix: { chat: [], completion: [] } });
      return { facts, routes, trainedContextTokens: 0 };
    })(),
    ids: ['raw-text-untemplated', 'markers-in-user-text'],
  },
  {
    name: 'a tokenizer that adds EOS',
    serving: servingOf('gemma3', { addedSuffix: { chat: [1], completion: [1] } }),
    ids: ['bos-added-to-text', 'eos-added-to-text', 'raw-text-untemplated', 'markers-in-user-text'],
  },
  {
    name: 'role markers that are ordinary text by design',
    serving: servingOf('base', { roleMarkers: [{ role: 'user', opening: '[INST] ' }] }),
    ids: ['bos-added-to-text', 'raw-text-untemplated'],
  },
  {
    name: 'a date in the template',
    serving: servingOf('gemma3', { templateWritesDate: true }),
    ids: ['bos-added-to-text', 'template-writes-date', 'raw-text-untemplated', 'markers-in-user-text'],
  },
  {
    name: 'less context than the model was trained for',
    serving: servingOf('gemma3', {}, { trainedContextTokens: 4097 }),
    ids: [...ofGemma, 'context-below-trained'],
  },
  {
    name: 'all the context that the model was trained for',
    serving: servingOf('gemma3', {}, { trainedContextTokens: 4096 }),
    ids: ofGemma,
  },
  { name: 'one slot', serving: servingOf('gemma3', { slots: 1 }), ids: [...ofGemma, 'one-slot'] },
];

describe('advice', () => {
  for (const { name, serving, ids } of cases) {
    it(`for ${name}`, () => {
      assert.deepEqual(
        adviseOn(serving).map(({ id }) => id),
        ids,
      );
    });
  }

  it('of every kind is given in one of these cases', () => {
    const given = new Set(cases.flatMap(({ ids }) => ids));
    assert.deepEqual(
      adviceIds.filter((id) => !given.has(id)),
      [],
    );
  });

  it('names the routes, the token and its id', () => {
    const [advice] = adviseOn(servingOf('gemma3'));
    assert.match(advice?.message ?? '', /\/completion or \/v1\/completions get two BOS.* <bos> .*\(id 2\)/);
    assert.match(advice?.advice ?? '', /without <bos>, or send token ids, .*: \/v1\/chat\/completions\.$/);
  });

  it('names the field that adds no BOS, where the engine is known to heed it', () => {
    const adviceFor = (ignoredFields: ModelFacts['ignoredFields']): string =>
      adviseOn(servingOf('gemma3', { ignoredFields: ignoredFields ?? [] }))[0]?.advice ?? '';
    assert.match(adviceFor([]), /without <bos>, or add_special_tokens: false beside it, or send token ids/);
    assert.doesNotMatch(adviceFor(factsOf.gemma3.ignoredFields), /add_special_tokens/);
  });

  it('counts the tokens of the think tail', () => {
    const advice = adviseOn(servingOf('qwen3')).find(({ id }) => id === 'think-tail');
    assert.match(advice?.message ?? '', /with 4 tokens \(<think>\\n\\n<\/think>\\n\\n\)/);
  });

  it('shows the marker that opens a turn, not just any', () => {
    const advice = adviseOn(servingOf('qwen3')).find(({ id }) => id === 'markers-in-user-text');
    assert.match(advice?.message ?? '', /holds <\|im_start\|> becomes/);
  });

  it('never carries control characters of a model file', () => {
    const bos = { text: '<\u001b[31m>', id: 2 };
    const roleMarkers = [{ role: 'user', opening: '\u001b]0;title\u0007<|x\u202e|>' }];
    const advice = adviseOn(servingOf('gemma3', { bos, markers: [bos], roleMarkers }));
    assert.doesNotMatch(JSON.stringify(advice.map((item) => [item.message, item.advice])), /\\u00|\u202e/);
  });
});

describe('advice on the context', () => {
  const adviceOf = (changed: Partial<ModelFacts>): string | undefined =>
    adviseOn(servingOf('gemma3', changed, { trainedContextTokens: 4097 })).find(
      ({ id }) => id === 'context-below-trained',
    )?.advice;

  it("names the engine's argument", () => {
    const contextArgument = '--context N';
    assert.equal(
      adviceOf({ contextArgument, slots: 0 }),
      'Start the engine with more context (--context N).',
    );
    assert.equal(
      adviceOf({ contextArgument, slots: 2 }),
      'Start the engine with more context (--context N), or with fewer slots to share it.',
    );
  });

  it('names none where none is known', () => {
    assert.equal(adviceOf({ slots: 1 }), 'Start the engine with more context.');
  });
});
