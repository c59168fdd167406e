import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { compileMarkers } from '../../src/tokens/markers.ts';
import { SegmentCache, type TokenizeOptions } from '../../src/tokens/segment-cache.ts';

/** A tokenizer whose only hard boundaries are `<m>` and `<n>`: every other run of equal characters is one token. */
function tokenizeText(text: string): number[] {
  return (text.match(/<m>|<n>|(.)\1*/gsu) ?? []).map((piece) =>
    piece === '<m>' ? 1 : piece === '<n>' ? 2 : 1000 + piece.length * 200_000 + (piece.codePointAt(0) ?? 0),
  );
}

const markers = compileMarkers([
  { text: '<m>', id: 1 },
  { text: '<n>', id: 2 },
]);

function counting(maxBytes = 1_000_000) {
  const asked: string[][] = [];
  const counted = { cache: 0, engine: 0 };
  const cache = new SegmentCache({
    maxBytes,
    digestKey: new Uint8Array(32),
    onTokenized: (source, tokens) => {
      counted[source] += tokens;
    },
  });
  const options = (more: Partial<TokenizeOptions> = {}): TokenizeOptions => ({
    scope: 'model',
    markers,
    addedPrefix: [],
    addedSuffix: [],
    memoise: true,
    tokenizeMany: (texts) => {
      asked.push([...texts]);
      return Promise.resolve(texts.map((text) => Uint32Array.from(tokenizeText(text))));
    },
    ...more,
  });
  return { cache, asked, counted, options };
}

const promptText = fc
  .array(fc.oneof(fc.constantFrom('<m>', '<n>', '<m', 'aa', '\n\n', ' '), fc.string({ unit: 'grapheme' })))
  .map((parts) => parts.join(''));

describe('SegmentCache', () => {
  it('gives the ids of whole tokenization for any prompt, remembered or not', async () => {
    const { cache, options } = counting();
    await fc.assert(
      fc.asyncProperty(promptText, async (text) => {
        const read = await cache.tokenize(text, options({ addedPrefix: [7], addedSuffix: [8] }));
        assert.deepEqual([...read.ids], [7, ...tokenizeText(text), 8]);
      }),
    );
  });

  it('says where each segment starts, in tokens and in text', async () => {
    const { cache, options } = counting();
    const read = await cache.tokenize('ab<m>c<n>', options({ addedPrefix: [7] }));
    assert.deepEqual(
      read.segments?.map(({ tokenStart, textStart }) => [tokenStart, textStart]),
      [
        [1, 0],
        [3, 2],
        [5, 6],
      ],
    );
  });

  it('asks only for what is new in a turn, all of it in one call', async () => {
    const { cache, asked, counted, options } = counting();
    await cache.tokenize('<m>one<n>', options());
    await cache.tokenize('<m>one<n><m>two<n>three', options());
    assert.deepEqual(asked, [
      ['<m>one', '<n>'],
      ['<m>two', '<n>three'],
    ]);
    assert.equal(counted.cache, tokenizeText('<m>one<n>').length);
  });

  it('asks once for a segment that occurs twice in a prompt', async () => {
    const { cache, asked, options } = counting();
    const read = await cache.tokenize('<m>x<m>x', options());
    assert.deepEqual(asked, [['<m>x']]);
    assert.deepEqual([...read.ids], tokenizeText('<m>x<m>x'));
  });

  it('shares a miss that is under way', async () => {
    const { cache, asked, options } = counting();
    const [a, b] = await Promise.all([cache.tokenize('<m>x', options()), cache.tokenize('<m>x', options())]);
    assert.equal(asked.length, 1);
    assert.deepEqual(a.ids, b.ids);
  });

  it('finds what was asked for ahead, and counts its tokens once', async () => {
    const { cache, asked, counted, options } = counting();
    await cache.tokenize('<m>old', options());
    const ahead = cache.askAhead(['<m>old', '<n>new', '<n>wrong'], options());
    const read = await cache.tokenize('<m>old<n>new<m>other', options());
    await ahead;
    assert.deepEqual([...read.ids], tokenizeText('<m>old<n>new<m>other'));
    assert.deepEqual(asked, [['<m>old'], ['<n>new', '<n>wrong'], ['<m>other']]);
    await cache.tokenize('<n>new', options());
    await cache.askAhead(['<n>new'], options());
    assert.equal(asked.length, 3);
    const tokens = (...texts: string[]): number => texts.map(tokenizeText).flat().length;
    assert.equal(counted.engine, tokens('<m>old', '<n>new', '<n>wrong', '<m>other'));
  });

  it('gives the failure of what was asked for ahead to those who want it, and to nobody else', async () => {
    const { cache, options } = counting();
    const failing = options({ tokenizeMany: () => Promise.reject(new Error('engine gone')) });
    const ahead = cache.askAhead(['<m>x'], failing);
    await assert.rejects(cache.tokenize('<m>x', failing), /engine gone/);
    await ahead;
    assert.deepEqual([...(await cache.tokenize('<m>x', options())).ids], tokenizeText('<m>x'));
  });

  it('remembers nothing of a failed call, and gives waiters the failure', async () => {
    const { cache, options } = counting();
    const failing = options({ tokenizeMany: () => Promise.reject(new Error('down')) });
    const both = await Promise.allSettled([cache.tokenize('<m>x', failing), cache.tokenize('<m>x', failing)]);
    assert.deepEqual(
      both.map((result) => result.status),
      ['rejected', 'rejected'],
    );
    assert.equal((await cache.tokenize('<m>x', options())).ids.length, 2);
  });

  it('keeps models and salts apart', async () => {
    const { cache, asked, options } = counting();
    await cache.tokenize('<m>x', options({ scope: 'model a' }));
    await cache.tokenize('<m>x', options({ scope: 'model b' }));
    assert.equal(asked.length, 2);
  });

  it('with memoising off asks for the whole text and keeps nothing', async () => {
    const { cache, asked, options } = counting();
    await cache.tokenize('<m>x<n>', options({ memoise: false }));
    await cache.tokenize('<m>x<n>', options({ memoise: false }));
    assert.deepEqual(asked, [['<m>x<n>'], ['<m>x<n>']]);
    assert.equal(cache.bytes, 0);
  });

  it('stays within its bound in bytes', async () => {
    const { cache, options } = counting(10_000);
    for (let turn = 0; turn < 200; turn += 1) await cache.tokenize(`<m>${turn}`.repeat(3), options());
    assert.ok(cache.bytes <= 10_000 && cache.bytes > 5_000, `${cache.bytes}`);
  });
});
