import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { proveBoundaries, withKinds } from '../../src/tokens/boundary-proof.ts';

/** Tokenizes by a regular expression: what it matches is a token by its text, so rules are easy to see. */
function tokenizer(pattern: RegExp) {
  const ids = new Map<string, number>();
  return (texts: readonly string[]) =>
    Promise.resolve(
      texts.map((text) =>
        Uint32Array.from(
          [...text.matchAll(pattern)].map(([piece]) => {
            if (!ids.has(piece)) ids.set(piece, ids.size);
            return ids.get(piece) ?? 0;
          }),
        ),
      ),
    );
}

async function proven(candidates: string[], pattern: RegExp): Promise<string[]> {
  return (await proveBoundaries(candidates, tokenizer(pattern))).map((marker) => marker.text);
}

describe('proveBoundaries', () => {
  it('accepts a control token', async () => {
    assert.deepEqual(await proven(['<m>'], /<m>|./gs), ['<m>']);
  });

  it('refuses a text that is more than one token', async () => {
    assert.deepEqual(await proven(['<m>', 'xy'], /<m>|./gs), ['<m>']);
  });

  it('refuses one id that merges with its own kind, as two newlines do in Gemma 3', async () => {
    assert.deepEqual(await proven(['\n\n'], /\n{1,3}|./gs), []);
  });

  it('accepts a token that swallows the space behind it, as rstrip tokens do: nothing is cut there', async () => {
    const stripping = tokenizer(/<m>|(?<!<m>\s*)\s|\S/g);
    assert.deepEqual(
      (await proveBoundaries(['<m>'], stripping)).map(({ text }) => text),
      ['<m>'],
    );
  });

  it('refuses a token that is another one with the space behind it', async () => {
    assert.deepEqual(await proven(['<m>'], /<m>\s*|./gs), []);
  });

  it('refuses a token that eats the space in front of it', async () => {
    assert.deepEqual(await proven(['<m>'], /\s*<m>|./gs), []);
  });

  it('refuses a token that swallows the space in front of it, as lstrip tokens do', async () => {
    assert.deepEqual(await proven(['<m>'], /<m>|\s(?!\s*<m>)|\S/g), []);
  });

  it('refuses one that merges only between two of the contexts', async () => {
    const characters = ['a', '7', ' ', '\n', '<', '>'];
    for (const before of characters) {
      for (const after of characters) {
        const merged = new RegExp(`${before}<m>${after}|<m>|.`, 'gs');
        assert.deepEqual(await proven(['<m>'], merged), [], JSON.stringify([before, after]));
      }
    }
  });

  it('refuses one that merges with two of its own kind', async () => {
    assert.deepEqual(await proven(['<m>'], /(?:<m>){3}|<m>|./gs), []);
  });

  it('asks for each pair of contexts, in one text', async () => {
    const asked: string[] = [];
    await proveBoundaries(['<m>'], (texts) => {
      asked.push(...texts);
      return tokenizer(/<m>|./gs)(texts);
    });
    const chain = asked.find((text) => text.split('<m>').length > 3) ?? '';
    const contexts = chain.split('<m>');
    const pairs = contexts.slice(1).map((after, index) => JSON.stringify([contexts[index], after]));
    assert.equal(new Set(pairs).size, 49);
    assert.ok(pairs.length <= 50, `${pairs.length} pairs`);
  });

  it('refuses an ordinary word that merges with letters', async () => {
    assert.deepEqual(await proven(['user'], /[a-z]+|./gs), []);
  });

  it('refuses one that merges with a digit only on its right', async () => {
    assert.deepEqual(await proven(['<m>'], /<m>\d?|./gs), []);
  });

  it('puts the longest first and asks nothing without candidates', async () => {
    assert.deepEqual(await proven(['<m>', '<mm>'], /<m>|<mm>|./gs), ['<mm>', '<m>']);
    assert.deepEqual(await proven([], /./gs), []);
  });
});

describe('withKinds', () => {
  const ids = (of: Readonly<Record<string, number[]>>) => (texts: readonly string[]) =>
    Promise.resolve(texts.map((text) => Uint32Array.from(of[text] ?? [])));

  it('tells a token that is one in any text from one that needs special parsing', async () => {
    const markers = [
      { text: '<think>', id: 7 },
      { text: '<|end|>', id: 8 },
      { text: '<x>', id: 9 },
    ];
    const told = await withKinds(markers, ids({ '<think>': [7], '<|end|>': [1, 2, 3], '<x>': [4] }));
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ['user-defined', 'control', 'control'],
    );
  });

  it('asks nothing where there is none', async () => {
    assert.deepEqual(await withKinds([], () => Promise.reject(new Error('asked'))), []);
  });
});
