// What ids say, by the entries of a vocabulary: whatever a tokenizer has cut a text into, the text comes back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compileMarkers } from '../../src/tokens/markers.ts';
import { PieceTable } from '../../src/tokens/piece-table.ts';
import {
  alphabetProbe,
  pieceOf,
  provenAlphabet,
  type VocabularyAlphabet,
} from '../../src/tokens/vocabulary-alphabet.ts';

/** The characters that GPT-2's alphabet has for the bytes 0 to 255. */
const byteCharacters = ((): readonly string[] => {
  const printable = (byte: number): boolean =>
    (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad && byte < 0x100);
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(printable(byte) ? byte : 0x100 + others++),
  );
})();

function asBytes(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byteCharacters[byte]).join('');
}

/** Cuts the text as a tokenizer may: anywhere between bytes, or between characters. */
const cutters: Record<VocabularyAlphabet, (text: string, cuts: readonly number[]) => string[]> = {
  'byte-level': (text, cuts) => {
    const bytes = Buffer.from(text);
    const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted(
      (a, b) => a - b,
    );
    return at.slice(1).map((end, index) => asBytes(bytes.subarray(at[index], end)));
  },
  metaspace: (text, cuts) =>
    Array.from(text).flatMap((character, index) =>
      cuts.includes(index % 7)
        ? [...Buffer.from(character)].map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
        : [character === ' ' ? '▁' : character],
    ),
};

function idsOf(table: PieceTable, entries: readonly string[], idOf: Map<string, number>): Uint32Array {
  const ids = Uint32Array.from(entries, (entry) => {
    const id = idOf.get(entry) ?? idOf.size;
    idOf.set(entry, id);
    return id;
  });
  table.learn(ids, entries);
  return ids;
}

const anyText = fc
  .array(fc.constantFrom(' ', '\n', 'a', 'é', 'Ġ', '漢', '🙂', 'e\u0301', '<', '>', '\u0000'), {
    maxLength: 40,
  })
  .map((characters) => characters.join(''));

for (const alphabet of ['byte-level', 'metaspace'] as const) {
  describe(`the ${alphabet} alphabet`, () => {
    it('is proven by the text that its entries give back', () => {
      assert.equal(provenAlphabet(cutters[alphabet](alphabetProbe, [3, 9, 14])), alphabet);
      assert.equal(provenAlphabet(cutters[alphabet](alphabetProbe.normalize('NFC'), [5])), alphabet);
      assert.equal(provenAlphabet(cutters[alphabet](alphabetProbe.toLowerCase(), [5])), undefined);
      assert.equal(provenAlphabet(cutters[alphabet](alphabetProbe.trimStart(), [5])), undefined);
    });

    it('says every text again, however it was cut', () => {
      fc.assert(
        fc.property(fc.array(anyText, { maxLength: 4 }), fc.array(fc.nat(200)), (texts, cuts) => {
          const table = new PieceTable(alphabet);
          const idOf = new Map<string, number>();
          for (const text of texts) {
            const ids = idsOf(table, cutters[alphabet](text, cuts), idOf);
            assert.equal(table.read(ids, 0, compileMarkers([]))?.text, text);
          }
        }),
      );
    });
  });
}

describe('provenAlphabet', () => {
  it('knows no other', () => {
    assert.equal(provenAlphabet([]), undefined);
    assert.equal(provenAlphabet(['[UNK]']), undefined);
    // Of word pieces the spaces are lost.
    assert.equal(provenAlphabet(alphabetProbe.trim().split(/\s+/)), undefined);
  });
});

describe('a piece', () => {
  const pieces: readonly (readonly [entry: string, alphabet: VocabularyAlphabet, says: string | number[]])[] =
    [
      ['Ġweir', 'byte-level', ' weir'],
      ['ĊĊ', 'byte-level', '\n\n'],
      ['Ã©', 'byte-level', 'é'],
      ['Ã', 'byte-level', [0xc3]],
      ['<｜begin▁of▁sentence｜>', 'byte-level', '<｜begin▁of▁sentence｜>'],
      ['<|im_end|>', 'byte-level', '<|im_end|>'],
      ['▁weir', 'metaspace', ' weir'],
      ['<0x0A>', 'metaspace', '\n'],
      ['<0xC3>', 'metaspace', [0xc3]],
      ['<0xc3>', 'metaspace', '<0xc3>'],
    ];
  for (const [entry, alphabet, says] of pieces) {
    it(`${entry}, ${alphabet}`, () => {
      const piece = pieceOf(entry, alphabet);
      assert.deepEqual(typeof piece === 'string' ? piece : [...piece], says);
    });
  }
});

describe('a prompt’s pieces', () => {
  const table = new PieceTable('byte-level');
  table.learn(Uint32Array.of(1, 2, 3), ['<|u|>', 'Hi', asBytes(Buffer.from('🙂').subarray(0, 2))]);
  table.learn(Uint32Array.of(4, 5), [asBytes(Buffer.from('🙂').subarray(2)), undefined]);
  const markers = compileMarkers([
    { id: 1, text: '<|u|>' },
    { id: 9, text: '<|a|>' },
  ]);

  it('are cut where markers begin, in units of the text', () => {
    assert.deepEqual(table.read(Uint32Array.of(7, 1, 3, 4, 9, 2), 1, markers), {
      text: '<|u|>🙂<|a|>Hi',
      segments: [
        { tokenStart: 1, textStart: 0 },
        { tokenStart: 4, textStart: 7 },
      ],
    });
  });

  it('are not known where one is not', () => {
    assert.equal(table.read(Uint32Array.of(2, 6), 0, markers), undefined);
    assert.equal(table.read(Uint32Array.of(2, 5), 0, markers), undefined);
    assert.deepEqual(
      [2, 5, 6].map((id) => table.isNew(id)),
      [false, false, true],
    );
    table.giveUp([6]);
    assert.ok(!table.isNew(6));
  });

  it('are not learnt from an entry that a tokenizer could not decode', () => {
    table.learn(Uint32Array.of(8), ['a\uFFFD']);
    assert.equal(table.read(Uint32Array.of(8), 0, markers), undefined);
  });

  it('are kept of as many as a vocabulary has', () => {
    const ids = Uint32Array.from({ length: 40_000 }, (_, index) => 10 + 3 * index);
    const large = new PieceTable('byte-level');
    large.learn(
      ids,
      Array.from(ids, (id) => `Ġ${id}`),
    );
    assert.equal(large.read(ids, 0, markers)?.text, Array.from(ids, (id) => ` ${id}`).join(''));
  });

  it('are not learnt of an id that no vocabulary has', () => {
    const ids = Uint32Array.of(2 ** 32 - 1);
    table.learn(ids, ['Hi']);
    assert.equal(table.read(ids, 0, markers), undefined);
    assert.ok(!table.isNew(2 ** 32 - 1), 'so that nobody asks for it again and again');
  });

  it('that are no whole characters end where a marker begins', () => {
    assert.deepEqual(table.read(Uint32Array.of(3, 1, 4), 0, markers)?.text, '\uFFFD<|u|>\uFFFD\uFFFD');
  });
});

describe('entries that look like markers', () => {
  it('are kept as they are written, each once, and no others', () => {
    const table = new PieceTable('metaspace');
    const entries = ['<|tool▁sep|>', 'weir', '<div>', '▁<b>', '<0x0A>', '<|', '<div>', '<|odd\uFFFD|>'];
    table.learn(Uint32Array.from(entries.keys()), entries);
    assert.deepEqual([...table.markerLike], ['<|tool▁sep|>', '<div>']);
  });
});
