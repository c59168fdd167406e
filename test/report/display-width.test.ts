// Columns as terminals count them, and lines that keep within them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clippedTo, displayWidth, wrappedTo } from '../../src/report/display-width.ts';

describe('the width of text', () => {
  const widths: readonly (readonly [text: string, width: number])[] = [
    ['', 0],
    ['token', 5],
    ['\u00e9', 1],
    ['e\u0301', 1],
    ['\u0301', 0],
    ['水', 2],
    ['かな', 4],
    ['한국', 4],
    ['｜', 2],
    ['▁', 1],
    ['–…‹›·', 5],
    ['🙂', 2],
    ['❤', 1],
    ['❤\ufe0f', 2],
    ['🇩🇪', 2],
    ['𠀋', 2],
  ];
  for (const [text, width] of widths) {
    it(`is ${width} for ${JSON.stringify(text)}`, () => {
      assert.equal(displayWidth(text), width);
    });
  }
});

describe('clipping', () => {
  it('leaves alone what fits', () => {
    assert.equal(clippedTo('水车', 4), '水车');
  });
  it('makes room for the ellipsis, and never cuts a wide character in half', () => {
    assert.equal(clippedTo('abcdef', 4), 'abc…');
    assert.equal(clippedTo('水车站', 4), '水…');
  });
});

describe('wrapping', () => {
  it('breaks at spaces', () => {
    assert.deepEqual(wrappedTo('a weir stands across a stream', 12), [
      'a weir',
      'stands',
      'across a',
      'stream',
    ]);
  });
  it('counts wide characters twice', () => {
    assert.deepEqual(wrappedTo('水车 水车', 8), ['水车', '水车']);
    assert.deepEqual(wrappedTo('水车 水车', 9), ['水车 水车']);
  });
  it('cuts a word that fits on no line', () => {
    assert.deepEqual(wrappedTo('an abcdefgh z', 4), ['an', 'abcd', 'efgh', 'z']);
  });
  it('ends where not even one character fits', () => {
    assert.deepEqual(wrappedTo('水车', 1), ['水车']);
  });
  it('keeps every word and every limit', () => {
    const word = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'é', '水', '🙂', '-') });
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 2, max: 30 }), (words, columns) => {
        const lines = wrappedTo(words.join(' '), columns);
        assert.equal(lines.join('').replaceAll(' ', ''), words.join(''));
        for (const line of lines) assert.ok(displayWidth(line) <= columns);
      }),
    );
  });
});
