// The common prefix against a definition that is too slow to be wrong, over random ids.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { commonPrefixLength, commonSuffixLength, reusableTokens } from '../../src/tokens/common-prefix.ts';

const ids = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 12 });

function byDefinition(a: readonly number[], b: readonly number[]): number {
  for (let length = Math.min(a.length, b.length); length > 0; length -= 1) {
    if (a.slice(0, length).join() === b.slice(0, length).join()) return length;
  }
  return 0;
}

describe('commonPrefixLength', () => {
  it('is the longest length at which both prefixes are equal', () => {
    fc.assert(
      fc.property(ids, ids, ids, (a, b, extra) => {
        const [left, right, tail] = [Uint32Array.from(a), Uint32Array.from(b), Uint32Array.from(extra)];
        assert.equal(commonPrefixLength(left, right), byDefinition(a, b));
        assert.equal(commonPrefixLength(left, right, tail), byDefinition([...a, ...extra], b));
      }),
    );
  });

  it('compares the whole 32 bits of an id', () => {
    assert.equal(commonPrefixLength(Uint32Array.of(0xffff_ffff), Uint32Array.of(0x7fff_ffff)), 0);
    assert.equal(commonPrefixLength(Uint32Array.of(0xffff_ffff), Uint32Array.of(0xffff_ffff)), 1);
  });

  it('looks at generated ids only after the whole prompt', () => {
    assert.equal(commonPrefixLength(Uint32Array.of(1, 2), Uint32Array.of(1, 3), Uint32Array.of(3)), 1);
    assert.equal(commonPrefixLength(Uint32Array.of(1), Uint32Array.of(1, 3, 4), Uint32Array.of(3)), 2);
  });
});

describe('commonSuffixLength', () => {
  it('is the common prefix of both read backwards, up to a bound', () => {
    fc.assert(
      fc.property(ids, ids, fc.nat(12), (a, b, most) => {
        const wanted = Math.min(most, byDefinition(a.toReversed(), b.toReversed()));
        assert.equal(commonSuffixLength(Uint32Array.from(a), Uint32Array.from(b), most), wanted);
      }),
    );
  });
});

describe('reusableTokens', () => {
  it('never counts the last id, which is always evaluated', () => {
    assert.equal(reusableTokens(10, 10), 9);
    assert.equal(reusableTokens(12, 10), 9);
    assert.equal(reusableTokens(4, 10), 4);
    assert.equal(reusableTokens(0, 0), 0);
  });

  it('counts whole blocks only, where blocks are what an engine keeps', () => {
    // Measured on vLLM with blocks of 32: 100 ids twice, and then their first 96.
    assert.equal(reusableTokens(100, 100, 32), 96);
    assert.equal(reusableTokens(96, 96, 32), 64);
    assert.equal(reusableTokens(31, 100, 32), 0);
    assert.equal(reusableTokens(100, 100, 0), 0);
  });
});
