// A model file of about 110 KB whose vocabulary is the 256 bytes and the markers that a test asks for: for odd
// templates, markers and BOS settings, which no downloaded model has.
import { createHash } from 'node:crypto';
import { cached } from '../cached.ts';
import { modelVersion, tokenKind, writeModel, type Token, type Vocabulary } from './model.ts';

export interface ByteModel {
  /** For the file name and the model's own name; letters, digits, dots and dashes. */
  name: string;
  /** Control tokens: parsed only where the engine parses special tokens. */
  markers: readonly string[];
  /** User-defined tokens: one id each, with special parsing or without. */
  userDefined?: readonly string[];
  /** Jinja; without one the engine falls back to ChatML. */
  chatTemplate?: string;
  /** One of `markers`; default: `<|endoftext|>`, which every byte model has. */
  bos?: string;
  /** False leaves BOS out of the metadata, as some converters did: the engine then takes id 11. Default true. */
  namesBos?: boolean;
  eos?: string;
  /** Whether the tokenizer puts BOS first by itself; default false. */
  addBos?: boolean;
}

const endOfText = '<|endoftext|>';

/** The engine refuses an empty list of merges; these make ids depend on what stands beside a character. */
const merges = ['Ġ t', 'h e', 'Ġt he', 'i n', 'e r', 'Ġ a', 'o n'];

/**
 * The path of a GGUF file with these tokens, in this order: 256 bytes, 7 merged ones, `<|endoftext|>`, markers,
 * user-defined. Made in a moment, cached by its whole description.
 * @throws if `bos` or `eos` is none of the markers
 */
export function byteModelFile(model: ByteModel): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(model)).digest('hex').slice(0, 16);
  const vocabulary = byteVocabulary(model);
  return cached(`gguf-${modelVersion}/${digest}/${model.name}.gguf`, (path) =>
    writeModel(path, model.name, vocabulary),
  );
}

/** The tokens, in the order of their ids, and what else a tokenizer is made of; for other formats than GGUF, too. */
export function byteVocabulary({
  name,
  markers,
  userDefined = [],
  chatTemplate,
  bos,
  namesBos = true,
  eos,
  addBos,
}: ByteModel): Vocabulary {
  const normal = [...byteSymbols(), ...merges.map((merge) => merge.replace(' ', ''))];
  const tokens: Token[] = [
    ...normal.map((text) => ({ text, kind: tokenKind.normal })),
    ...[...new Set([endOfText, ...markers])].map((text) => ({ text, kind: tokenKind.control })),
    ...userDefined.map((text) => ({ text, kind: tokenKind.userDefined })),
  ];
  const idOf = (marker: string): number => {
    const id = tokens.findIndex((token) => token.text === marker && token.kind === tokenKind.control);
    if (id === -1) throw new Error(`${name}: ${marker} is no marker of this model`);
    return id;
  };
  return {
    algorithm: 'gpt2',
    pre: 'gpt-2',
    tokens,
    merges,
    ...(namesBos && { bos: idOf(bos ?? endOfText) }),
    eos: idOf(eos ?? endOfText),
    addBos: addBos ?? false,
    ...(chatTemplate !== undefined && { chatTemplate }),
  };
}

/** The printable character that byte-level BPE writes for each byte: itself, or one from U+0100 on. */
function byteSymbols(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCodePoint(printable ? byte : next++);
  });
}
