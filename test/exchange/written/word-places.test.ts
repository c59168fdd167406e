// Names are found as words of their own, and what is between texts is the same in the prompt and put together.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BetweenTexts } from '../../../src/exchange/written/between-texts.ts';
import { standsAlone } from '../../../src/exchange/written/name-place.ts';
import { ReadingBudget } from '../../../src/exchange/written/reading-budget.ts';
import { bySign, eachWord } from '../../../src/exchange/written/word-places.ts';

function placesOf(text: string, name: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (standsAlone(text, at, name.length)) found.push(`${at} ${name}`);
  return found;
}

describe('the words of a text that have a sign', () => {
  it('are those names that stand alone there', () => {
    const piece = fc.constantFrom('_', '__', 'a', 'é', 'ab_c', '漢_', ' ', '.', '-', '\ud83d\ude00', 'x');
    const text = fc.array(piece, { maxLength: 40 }).map((all) => all.join(''));
    const name = fc.array(fc.constantFrom('_', 'a', 'b', 'é', 'ab_c'), { minLength: 1, maxLength: 4 });
    const names = fc.uniqueArray(
      name.map((all) => all.join('')),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(text, names, (where, all) => {
        const { signed } = bySign(all);
        const found: string[] = [];
        for (const [sign, some] of signed)
          eachWord(where, sign, some, new ReadingBudget(Infinity), (one, at) => found.push(`${at} ${one}`));
        const expected = [...signed.values()].flatMap((some) =>
          [...some].flatMap((one) => placesOf(where, one)),
        );
        assert.deepEqual(found.toSorted(), expected.toSorted());
      }),
    );
  });

  it('are not told of names that hold what ends a word', () => {
    const { signed, others } = bySign(['a_b', 'a.b_c', 'ab', 'a-b']);
    assert.deepEqual(
      [...signed].map(([sign, names]) => [sign, ...names]),
      [
        ['_', 'a_b'],
        ['-', 'a-b'],
      ],
    );
    assert.deepEqual(others, ['a.b_c', 'ab']);
  });

  it('cost what the text is long where it is one word of nothing else', () => {
    const budget = new ReadingBudget(4_000_000);
    eachWord('_'.repeat(1_000_000), '_', new Set(['get_it']), budget, () => assert.fail());
    assert.equal(budget.isSpent, false);
  });
});

describe('what is between texts', () => {
  const range = fc.record({ start: fc.nat(60), length: fc.nat(12) });
  it('is the same in the prompt and put together', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 3 }), fc.nat(199), (given, place) => {
        const rendered = Array.from({ length: 200 }, (_, index) => String.fromCharCode(0x100 + index)).join(
          '',
        );
        const texts = given
          .map(({ start, length }) => ({ start, end: start + length }))
          .toSorted((a, b) => a.start - b.start);
        const between = new BetweenTexts(rendered, texts);
        const searched = between.searched();
        assert.equal(searched.text, rendered);
        const isOutside = texts.every(({ start, end }) => place < start || place >= end);
        assert.equal(searched.counts(place, 1), isOutside);
        const [before, behind] = [between.part(searched, 0, place), between.part(searched, place, 200)];
        const letters = (text: string): string => text.replaceAll('\n', '');
        assert.equal(letters(before + behind), letters(between.all));
      }),
    );
  });

  it('is put together where most of the prompt is texts', () => {
    const between = new BetweenTexts('a'.repeat(100), [{ start: 10, end: 90 }]);
    assert.equal(between.searched().text, `${'a'.repeat(10)}\n${'a'.repeat(10)}`);
  });
});
