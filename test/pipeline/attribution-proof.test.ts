// Which ids prove that a repaired attribution line changed nothing else. Ids 1 to 9 stand before and behind the line.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proveAttribution, sentIds } from '../../src/pipeline/attribution-proof.ts';

const ids = (...list: number[]): Uint32Array => Uint32Array.from(list);
const freeze = { way: 'freeze', mostTokens: 4 } as const;
const cut = { way: 'cut', mostTokens: 4 } as const;
/** The turn before: its line is 20 21, and its end 9 goes on otherwise. */
const ancestor = ids(1, 2, 20, 21, 5, 9);

describe('a frozen line is proven', () => {
  it("where all up to its end is the ancestor's, and all behind it is as it was", () => {
    const old = ids(1, 2, 20, 22, 23, 5, 6);
    const now = ids(1, 2, 20, 21, 5, 6);
    const sent = proveAttribution(freeze, old, now, ancestor);
    assert.deepEqual(sent, { head: ids(1, 2, 20, 22, 23), from: 4 });
    assert.deepEqual(sentIds(now, sent), old);
  });

  const refused: readonly [string, Uint32Array, Uint32Array, Uint32Array | undefined][] = [
    ['something before it differs from the ancestor', ids(1, 3, 22, 5), ids(1, 3, 20, 5), ancestor],
    ['the line is not the one that the engine was fed', ids(1, 2, 22, 5), ids(1, 2, 24, 5), ancestor],
    ['what was put there is longer than the line', ids(1, 2, 5), ids(1, 2, 20, 21, 5, 9, 7, 5), ancestor],
    ['more went than the line', ids(1, 2, 22, 3, 4, 6, 8, 5), ids(1, 2, 20, 21, 5), ancestor],
    ['nothing changed', ids(1, 2, 20, 21, 5), ids(1, 2, 20, 21, 5), ancestor],
    ['there is no ancestor', ids(1, 2, 22, 5), ids(1, 2, 20, 5), undefined],
  ];
  for (const [name, old, now, before] of refused) {
    it(`but not where ${name}`, () => {
      assert.equal(proveAttribution(freeze, old, now, before), undefined);
    });
  }
});

describe('a cut line is proven', () => {
  it('where the new ids are the old ones without it', () => {
    const old = ids(1, 2, 20, 22, 5, 6);
    const now = ids(1, 2, 5, 6);
    for (const before of [undefined, ids(1, 2, 5), ids(7)]) {
      const sent = proveAttribution(cut, old, now, before);
      assert.deepEqual(sent, { head: ids(1, 2, 20, 22), from: 2 });
      assert.deepEqual(sentIds(now, sent), old);
    }
  });

  const refused: readonly [string, Uint32Array, Uint32Array][] = [
    ['an id came that was not there', ids(1, 2, 20, 22, 5), ids(1, 2, 30, 5)],
    ['the seam is tokenized otherwise', ids(1, 2, 20, 22, 5), ids(1, 25)],
    ['two places changed', ids(1, 20, 2, 22, 5), ids(1, 2, 5)],
    ['more went than the line', ids(1, 20, 21, 22, 23, 24, 5), ids(1, 5)],
    ['nothing changed', ids(1, 5), ids(1, 5)],
  ];
  for (const [name, old, now] of refused) {
    it(`but not where ${name}`, () => {
      assert.equal(proveAttribution(cut, old, now, undefined), undefined);
    });
  }
});

describe('sentIds', () => {
  it('are the ids themselves where nothing was repaired', () => {
    assert.equal(sentIds(ancestor, undefined), ancestor);
  });
});
