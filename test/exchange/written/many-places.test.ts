// Many texts are found in one pass, each wherever it stands, and no more is read than was allowed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { eachPlace } from '../../../src/exchange/written/many-places.ts';
import { ReadingBudget } from '../../../src/exchange/written/reading-budget.ts';

function places(text: string, needles: readonly string[], budget = new ReadingBudget(Infinity)): string[] {
  const found: string[] = [];
  eachPlace(text, needles, budget, (needle, at) => found.push(`${at} ${needle}`));
  return found.toSorted();
}

/** As they are found one by one. */
function placesOf(text: string, needle: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
    found.push(`${at} ${needle}`);
  return found;
}

describe('the places of many texts', () => {
  it('are those that each of them has by itself', () => {
    // The sign " has the low byte of 漢: samples are of low bytes, places of whole characters.
    const short = fc.constantFrom('a', 'b', 'ab', '漢', '"', '\ud83d');
    const long = fc.constantFrom('abababab', 'baabbaab漢', 'ab'.repeat(20), 'the quick fox', 'tool_1');
    const piece = fc.oneof(short, long);
    const texts = fc.array(piece, { minLength: 1, maxLength: 12 }).map((all) => all.join(''));
    const gap = fc.constantFrom(0, 16_360, 16_380, 40_000);
    fc.assert(
      fc.property(fc.uniqueArray(texts, { maxLength: 12 }), texts, gap, (needles, other, length) => {
        const text = [other, ...needles].join('-'.repeat(length));
        const expected = needles.flatMap((needle) => placesOf(text, needle));
        assert.deepEqual(places(text, needles), expected.toSorted());
      }),
      { numRuns: 100 },
    );
  });

  it('are told where samples of any length meet the end of what is read at a time', () => {
    const long = 'what a tool is for, in forty characters or more';
    for (const needle of ['tool_1', 'tool_12', 'a tool name', 'the name of a tool that is long', long]) {
      const missed: number[] = [];
      for (let before = 16_300; before < 16_450; before += 1) {
        const text = `${'-'.repeat(before)}${needle}-`;
        if (places(text, [needle]).join() !== `${before} ${needle}`) missed.push(before);
      }
      assert.deepEqual(missed, [], needle);
    }
  });

  it('are not all told where texts that share a beginning would be compared again and again', () => {
    const needles = Array.from({ length: 200 }, (_, index) => 'a'.repeat(1000 + index));
    const text = 'a'.repeat(10_000);
    const budget = new ReadingBudget(16 * text.length);
    assert.ok(places(text, needles, budget).length < 200);
    assert.equal(budget.isSpent, true);
  });
});
