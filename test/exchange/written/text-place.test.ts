// The native ways of looking for long texts answer as the built-in ones do.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { placeOf, standsAt } from '../../../src/exchange/written/text-place.ts';

/** Texts of few different pieces, long and short, so that beginnings stand again and again. */
const pieces = fc.constantFrom('a', 'b', '漢', 'ab'.repeat(64), 'a'.repeat(128), `${'ab'.repeat(100)}c`);
const texts = fc.array(pieces, { maxLength: 24 }).map((all) => all.join(''));

describe('where a text stands', () => {
  it('is where `indexOf` finds it', () => {
    fc.assert(
      fc.property(texts, texts, texts, fc.nat(600), (before, needle, after, from) => {
        const text = before + needle + after;
        assert.equal(placeOf(text, needle, from), text.indexOf(needle, from));
        assert.equal(placeOf(before, needle, from), before.indexOf(needle, from));
      }),
    );
  });

  it('is told as `startsWith` tells it', () => {
    fc.assert(
      fc.property(texts, texts, fc.nat(600), (before, needle, at) => {
        const text = before + needle;
        assert.equal(standsAt(text, needle, before.length), true);
        assert.equal(standsAt(text, needle, at), text.startsWith(needle, at));
        assert.equal(standsAt(before, needle, at), before.startsWith(needle, at));
      }),
    );
  });
});
