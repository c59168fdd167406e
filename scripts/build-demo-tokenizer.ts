// Trains the demo engine's byte-level BPE tokenizer on demo-corpus.txt and writes it to src/demo/tokenizer.json.
// Must stay deterministic: the same corpus gives the same bytes, which a drift test checks.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const corpusFile = new URL('demo-corpus.txt', import.meta.url);
const outputFile = new URL('../src/demo/tokenizer.json', import.meta.url);

/** How many merges are learnt; with 256 bytes and the added tokens that makes a vocabulary of a few hundred entries. */
const mergeCount = 220;

/** Control tokens are hidden by `parse_special: false`; the others are user-defined and always matched. */
const addedTokens: readonly { readonly content: string; readonly special: boolean }[] = [
  { content: '<bos>', special: true },
  { content: '<eos>', special: true },
  { content: '<|turn|>', special: true },
  { content: '<|end|>', special: true },
  { content: '<think>', special: false },
  { content: '</think>', special: false },
  { content: '<tool_call>', special: false },
  { content: '</tool_call>', special: false },
  { content: '<tool_response>', special: false },
  { content: '</tool_response>', special: false },
];

/** The split of GPT-2, which Hugging Face's ByteLevel pre-tokenizer applies with `use_regex`. */
const wordPattern = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** GPT-2's alphabet: printable Latin-1 bytes stand for themselves, the others for the code points from 256 on. */
function byteAlphabet(): string[] {
  let moved = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCodePoint(printable ? byte : 256 + moved++);
  });
}

interface Word {
  symbols: string[];
  count: number;
}

function wordsOf(corpus: string, alphabet: readonly string[]): Word[] {
  const counts = new Map<string, number>();
  for (const [word] of corpus.matchAll(wordPattern)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => ({
    symbols: Array.from(Buffer.from(word), (byte) => alphabet[byte] ?? ''),
    count,
  }));
}

/** The most frequent pair; of equals the one that sorts first, so that the order of the corpus does not decide. */
function nextPair(words: readonly Word[]): readonly [string, string] | undefined {
  const counts = new Map<string, number>();
  for (const { symbols, count } of words) {
    for (let at = 1; at < symbols.length; at++) {
      const pair = `${symbols[at - 1] ?? ''} ${symbols[at] ?? ''}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best: readonly [string, number] | undefined;
  for (const [pair, count] of counts) {
    if (count < 2) continue;
    if (best === undefined || count > best[1] || (count === best[1] && pair < best[0])) best = [pair, count];
  }
  if (best === undefined) return undefined;
  const [left = '', right = ''] = best[0].split(' ');
  return [left, right];
}

function mergePair(word: Word, left: string, right: string): void {
  const merged: string[] = [];
  for (let at = 0; at < word.symbols.length; at++) {
    const isPair = word.symbols[at] === left && word.symbols[at + 1] === right;
    merged.push(isPair ? left + right : (word.symbols[at] ?? ''));
    if (isPair) at += 1;
  }
  word.symbols = merged;
}

/** The whole file as text, as Hugging Face's `tokenizer.json` has it. */
export function buildDemoTokenizer(corpus: string): string {
  const alphabet = byteAlphabet();
  const words = wordsOf(corpus, alphabet);
  const vocabulary = alphabet.toSorted();
  const merges: [string, string][] = [];
  for (let step = 0; step < mergeCount; step++) {
    const pair = nextPair(words);
    if (pair === undefined)
      throw new Error(`demo-corpus.txt is too short: it gives ${step} merges of ${mergeCount}`);
    const [left, right] = pair;
    for (const word of words) mergePair(word, left, right);
    merges.push([left, right]);
    vocabulary.push(left + right);
  }
  if (new Set(vocabulary).size !== vocabulary.length) throw new Error('two merges gave the same token');
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: true };
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens.map(({ content, special }, index) => ({
      id: vocabulary.length + index,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special,
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
      merges,
    },
  };
  return `${JSON.stringify(tokenizer, null, 1)}\n`;
}

/** The committed corpus, as the drift test and the command line read it. */
export function readDemoCorpus(): string {
  return readFileSync(corpusFile, 'utf8');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(outputFile, buildDemoTokenizer(readDemoCorpus()));
}
