// The demo tokenizer against independent encoders of the same file, and the boundaries that the segment cache relies on.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { buildDemoTokenizer, readDemoCorpus } from '../../scripts/build-demo-tokenizer.ts';
import { DemoTokenizer, loadDemoTokenizer } from '../../src/demo/tokenizer.ts';

const file = new URL('../../src/demo/tokenizer.json', import.meta.url);
const json = readFileSync(file, 'utf8');
const tokenizer = loadDemoTokenizer();
const plain = { addSpecial: false, parseSpecial: true };
const { bos } = tokenizer;

interface TokenizerFile {
  added_tokens: { id: number; content: string; special: boolean }[];
  model: { vocab: Record<string, number>; merges: [string, string][] };
}
const parsed = JSON.parse(json) as TokenizerFile;
const markers = parsed.added_tokens.map(({ content }) => content);

/** Prompt-like text: words of the corpus, markers whole and broken, white space, other scripts. */
const promptText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...markers,
        '<|turn',
        'end|>',
        '<',
        '|>',
        '\n',
        '\n\n',
        '  ',
        ' the',
        'weir',
        "'s",
        '12',
        'é',
        '猫',
        '🙂',
      ),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** Byte-level BPE as its paper has it: while there is a pair with a merge, merge the pair of the lowest rank. */
function referenceWord(word: string): number[] {
  let symbols = Array.from(Buffer.from(word), (byte) => symbolOfByte.get(byte)!);
  for (;;) {
    const ranks = symbols.slice(1).map((right, at) => rankOfPair.get(`${symbols[at]!} ${right}`) ?? Infinity);
    const best = Math.min(...ranks, Infinity);
    if (best === Infinity) return symbols.map((symbol) => parsed.model.vocab[symbol]!);
    const [left, right] = parsed.model.merges[best]!;
    const merged: string[] = [];
    for (const symbol of symbols) {
      if (symbol === right && merged.at(-1) === left) merged[merged.length - 1] = left + right;
      else merged.push(symbol);
    }
    symbols = merged;
  }
}
const rankOfPair = new Map(parsed.model.merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
const symbolOfByte = new Map(
  Object.entries(parsed.model.vocab)
    .filter(([token]) => Array.from(token).length === 1)
    .map(([token, id]) => [tokenizer.piece(id)![0]!, token]),
);

function referenceIds(text: string): number[] {
  const words = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
  return text
    .split(/(<bos>|<eos>|<\|turn\|>|<\|end\|>|<\/?think>|<\/?tool_call>|<\/?tool_response>)/u)
    .flatMap((part) => {
      const added = parsed.added_tokens.find(({ content }) => content === part);
      if (added !== undefined) return [added.id];
      return [...part.matchAll(words)].flatMap(([word]) => referenceWord(word));
    });
}

describe('the demo tokenizer file', () => {
  it('is what the script makes of the committed corpus, byte for byte', () => {
    assert.equal(buildDemoTokenizer(readDemoCorpus()), json);
  });

  it('has every byte, a few hundred tokens in all, and ids without a gap', () => {
    assert.equal(symbolOfByte.size, 256);
    assert.ok(tokenizer.vocabularySize > 400 && tokenizer.vocabularySize < 1000);
    for (let id = 0; id < tokenizer.vocabularySize; id++) assert.ok(tokenizer.piece(id), `id ${id}`);
    assert.equal(tokenizer.piece(tokenizer.vocabularySize), undefined);
  });

  it('is refused with the reason if a token of the family is missing', () => {
    const without = {
      ...parsed,
      added_tokens: parsed.added_tokens.filter(({ content }) => content !== '<eos>'),
    };
    assert.throws(() => new DemoTokenizer(JSON.stringify(without)), /no added token <eos>/);
  });
});

describe('the demo tokenizer', () => {
  it('gives back any text', () => {
    fc.assert(
      fc.property(promptText, (text) => {
        assert.equal(tokenizer.detokenize(tokenizer.tokenize(text, plain)), text);
      }),
    );
  });

  it('gives the ids of byte-level BPE written down independently', () => {
    fc.assert(
      fc.property(promptText, (text) => {
        assert.deepEqual(tokenizer.tokenize(text, plain), referenceIds(text));
      }),
    );
  });

  it('gives the ids of Transformers.js', async (context) => {
    const transformers = await import('@huggingface/transformers').catch(() => undefined);
    if (transformers === undefined) {
      context.skip('the optional dependency @huggingface/transformers is not installed');
      return;
    }
    const reference = new transformers.PreTrainedTokenizer(JSON.parse(json) as object, {});
    fc.assert(
      fc.property(promptText, (text) => {
        const ids = reference.encode(text, { add_special_tokens: false });
        assert.deepEqual(tokenizer.tokenize(text, plain), ids);
      }),
    );
  });

  it('treats every added token as a hard boundary: tokens(a + marker + b) = tokens(a), id, tokens(b)', () => {
    fc.assert(
      fc.property(
        promptText,
        fc.constantFrom(...parsed.added_tokens),
        promptText,
        (a, { content, id }, b) => {
          // A marker that only comes about where a or b meets it is a marker of the whole, not of the parts.
          fc.pre(!/[<|/a-z_]$/u.test(a) && !/^[>|/a-z_]/u.test(b));
          assert.deepEqual(tokenizer.tokenize(a + content + b, plain), [
            ...tokenizer.tokenize(a, plain),
            id,
            ...tokenizer.tokenize(b, plain),
          ]);
        },
      ),
    );
  });

  it('hides control tokens without parse_special, and never the user-defined ones', () => {
    for (const { id, content, special } of parsed.added_tokens) {
      const ids = tokenizer.tokenize(content, { addSpecial: false, parseSpecial: false });
      assert.equal(ids.includes(id), !special, content);
      assert.equal(tokenizer.detokenize(ids), content);
    }
  });

  it('adds BOS only when asked, and only in front of text', () => {
    const added = { addSpecial: true, parseSpecial: true };
    const [a] = tokenizer.tokenize('a', plain);
    assert.deepEqual(tokenizer.tokenize('', added), [bos.id]);
    assert.deepEqual(tokenizer.tokenize('a', added), [bos.id, a]);
    assert.deepEqual(tokenizer.tokenize(['a', 5, 'a'], added), [bos.id, a, 5, a]);
    assert.deepEqual(tokenizer.tokenize([5, 'a'], added), [5, a]);
    assert.deepEqual(tokenizer.tokenize([], added), []);
    assert.deepEqual(tokenizer.tokenize('<bos>a', added), [bos.id, bos.id, a]);
  });

  it('echoes integers where they stand, whatever they are', () => {
    const [a, b] = tokenizer.tokenize('a', plain).concat(tokenizer.tokenize('b', plain));
    assert.deepEqual(tokenizer.tokenize(['a', -1, 'b', 99999], plain), [a, -1, b, 99999]);
  });

  it('names an id that is not in the vocabulary', () => {
    assert.throws(() => tokenizer.detokenize([99999]), /token id 99999 is not in the vocabulary/);
  });
});
