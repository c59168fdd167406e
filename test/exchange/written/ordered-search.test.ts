// What is looked for in an expected order is found wherever it stands.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { OrderedSearch } from '../../../src/exchange/written/ordered-search.ts';

describe('an ordered search', () => {
  it('finds what the text holds, in any order and any distance, and nothing else', () => {
    const word = fc.stringMatching(/^[a-c]{1,3}$/);
    const gap = fc.constantFrom('', ' ', '-'.repeat(2000));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, gap)),
        fc.array(fc.tuple(word, fc.nat(5000))),
        fc.nat(5000),
        (pieces, asked, next) => {
          const text = pieces.flat().join('');
          const search = new OrderedSearch(text, next);
          for (const [one, length] of asked) {
            assert.equal(search.holds(one, [], length), text.includes(one));
          }
        },
      ),
    );
  });
});
