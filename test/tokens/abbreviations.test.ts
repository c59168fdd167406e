// Ids put back for abbreviated segments: exact where each text changed one segment, and nothing where it did not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Abbreviations } from '../../src/tokens/abbreviations.ts';

const marker = 1;
const markers = new Set([marker]);
const ids = (...parts: readonly (readonly number[])[]): Uint32Array =>
  Uint32Array.from(parts.flatMap((part) => [marker, ...part]));

describe('abbreviated segments', () => {
  it('are replaced by what they stood for, in any prompt of the scope', () => {
    const body = fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 6 }), fc.array(body), (texts, rest) => {
        const memory = new Abbreviations(1 << 20);
        const word = (index: number): number[] => [100 + index];
        const words = texts.map((_, index) => String(index));
        const whole = ids(...texts, ...rest);
        const abbreviated = ids(...texts.map((_, index) => word(index)), ...rest);
        assert.equal(memory.learn('m', markers, { whole, abbreviated }, words), 'learnt');
        assert.ok(words.every((one) => memory.knows('m', one) && !memory.knows('n', one)));
        const again = ids(...rest, ...texts.map((_, index) => word(index)));
        assert.deepEqual(memory.expand('m', markers, again, texts.length), ids(...rest, ...texts));
        assert.equal(memory.expand('n', markers, again, texts.length), undefined);
      }),
    );
  });

  const cases = {
    'a text that the template left out': { whole: ids([2], [3]), abbreviated: ids([2], [3]), words: ['a'] },
    'a text that stands twice': { whole: ids([2], [2]), abbreviated: ids([9], [9]), words: ['a'] },
    'a segment more': { whole: ids([2], [3]), abbreviated: ids([9]), words: ['a'] },
  };
  for (const [name, { words, ...pair }] of Object.entries(cases)) {
    it(`teach nothing of ${name}`, () => {
      const memory = new Abbreviations(1 << 20);
      assert.equal(memory.learn('m', markers, pair, words), 'not-alike');
      assert.ok(!memory.knows('m', 'a'));
    });
  }

  it('that stood for other ids are a contradiction', () => {
    const memory = new Abbreviations(1 << 20);
    memory.learn('m', markers, { whole: ids([2, 3]), abbreviated: ids([9]) }, ['a']);
    const pair = { whole: ids([2, 4]), abbreviated: ids([9]) };
    assert.equal(memory.learn('m', markers, pair, ['a']), 'contradicts');
  });

  it('are not known any more when they were many', () => {
    const memory = new Abbreviations(4096);
    for (let index = 0; index < 50; index += 1) {
      memory.learn('m', markers, { whole: ids([2, index]), abbreviated: ids([100 + index]) }, [`${index}`]);
    }
    assert.equal(memory.expand('m', markers, ids([100]), 1), undefined);
    assert.deepEqual(memory.expand('m', markers, ids([149]), 1), ids([2, 49]));
  });
});
