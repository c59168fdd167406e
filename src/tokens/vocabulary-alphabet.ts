/**
 * The two ways in which tokenizers write the entries of their vocabulary. Which one a tokenizer has is proven: it is shown a
 * text, and its entries must say that text again. Anything else is not read at all.
 */

/**
 * `byte-level`: each byte is a printable character, as GPT-2's table has it. `metaspace`: text as it is, "▁" for a space,
 * and `<0xNN>` for a byte that is no character of the vocabulary.
 */
export type VocabularyAlphabet = 'byte-level' | 'metaspace';

/** What an id says: text, or bytes that are no whole characters. */
export type Piece = string | Uint8Array;

/** Shown to a tokenizer: spaces in a row, line ends, digits, accents in both Unicode forms, characters of 2 to 4 bytes. */
export const alphabetProbe = " Weir  e\u0301 \u00E9 中 🙂\n\t1 don't . x";

/** @param entries of the probe's ids; undefined if neither alphabet gives the probe back */
export function provenAlphabet(entries: readonly string[]): VocabularyAlphabet | undefined {
  return (['byte-level', 'metaspace'] as const).find((alphabet) => {
    const bytes = entries.map((entry) => Buffer.from(pieceOf(entry, alphabet)));
    const said = Buffer.concat(bytes).toString('utf8');
    // Some tokenizers compose characters first (NFC), as Qwen's do; that is what the model reads.
    return said === alphabetProbe || said === alphabetProbe.normalize('NFC');
  });
}

export function pieceOf(entry: string, alphabet: VocabularyAlphabet): Piece {
  if (alphabet === 'metaspace') {
    const byte = /^<0x([0-9A-F]{2})>$/.exec(entry)?.[1];
    return byte === undefined
      ? entry.replaceAll('▁', ' ')
      : wholeOr(Uint8Array.of(Number.parseInt(byte, 16)));
  }
  const bytes = new Uint8Array(entry.length);
  for (let at = 0; at < entry.length; at += 1) {
    const byte = byteOf.get(entry.charCodeAt(at));
    // Added tokens are not written in the alphabet.
    if (byte === undefined) return entry;
    bytes[at] = byte;
  }
  return wholeOr(bytes);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function wholeOr(bytes: Uint8Array): Piece {
  try {
    return decoder.decode(bytes);
  } catch {
    return bytes;
  }
}

/**
 * GPT-2's `bytes_to_unicode`: printable bytes stand for themselves, the others for the characters from U+0100 on
 * (https://github.com/openai/gpt-2/blob/master/src/encoder.py).
 */
const byteOf: ReadonlyMap<number, number> = (() => {
  const isPrintable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  const table = new Map<number, number>();
  let others = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    if (isPrintable(byte)) table.set(byte, byte);
    else {
      table.set(0x1_00 + others, byte);
      others += 1;
    }
  }
  return table;
})();
