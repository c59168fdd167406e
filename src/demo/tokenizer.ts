// The demo engine's tokenizer: text to ids and back, with llama-server's switches for BOS and control tokens.
// It serves the demo engine only; verdicts on traffic always come from the engine that serves it.
import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';

export interface DemoToken {
  readonly id: number;
  readonly text: string;
}

export interface TokenizeOptions {
  /** Puts BOS in front if the content starts with text. */
  readonly addSpecial: boolean;
  /** False reads the texts of control tokens as ordinary text; user-defined tokens are matched all the same. */
  readonly parseSpecial: boolean;
}

/** What `/tokenize` and the raw routes take: text, or texts and ids in their order. */
export type TokenizableContent = string | readonly (string | number)[];

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

interface TokenizerFile {
  readonly added_tokens: readonly AddedToken[];
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

/** GPT-2's byte alphabet read backwards: the code point that stands for a byte in the vocabulary, to the byte. */
function byteByCodePoint(): Map<number, number> {
  const bytes = new Map<number, number>();
  let moved = 0;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    bytes.set(printable ? byte : 256 + moved++, byte);
  }
  return bytes;
}

function piecesOf(file: TokenizerFile): Buffer[] {
  const alphabet = byteByCodePoint();
  const pieces: Buffer[] = [];
  for (const [token, id] of Object.entries(file.model.vocab)) {
    pieces[id] = Buffer.from(Array.from(token, (symbol) => alphabet.get(symbol.codePointAt(0) ?? 0) ?? 0));
  }
  for (const { id, content } of file.added_tokens) pieces[id] = Buffer.from(content);
  return pieces;
}

export class DemoTokenizer {
  readonly bos: DemoToken;
  readonly eos: DemoToken;
  /** Ends a turn; the last token of every reply that runs to its end. */
  readonly endOfTurn: DemoToken;
  readonly #withControl: Tokenizer;
  readonly #withoutControl: Tokenizer;
  /** The bytes of each token, by id. */
  readonly #pieces: readonly Buffer[];

  /** @param json the text of a Hugging Face `tokenizer.json` with the demo's own token family. */
  constructor(json: string) {
    const file = JSON.parse(json) as TokenizerFile;
    const settings = { clean_up_tokenization_spaces: false };
    this.#withControl = new Tokenizer(file, settings);
    const userDefined = file.added_tokens.filter((token) => !token.special);
    this.#withoutControl = new Tokenizer({ ...file, added_tokens: userDefined }, settings);
    this.#pieces = piecesOf(file);
    const named = (text: string): DemoToken => {
      const token = file.added_tokens.find(({ content }) => content === text);
      if (token === undefined) throw new Error(`tokenizer.json has no added token ${text}; rebuild it`);
      return { id: token.id, text };
    };
    this.bos = named('<bos>');
    this.eos = named('<eos>');
    this.endOfTurn = named('<|end|>');
  }

  /** Ids run from 0 to one less than this. */
  get vocabularySize(): number {
    return this.#pieces.length;
  }

  /** Integers are echoed where they stand, known to the vocabulary or not, as llama-server's `/tokenize` does. */
  tokenize(content: TokenizableContent, { addSpecial, parseSpecial }: TokenizeOptions): number[] {
    const parts = typeof content === 'string' ? [content] : content;
    const tokenizer = parseSpecial ? this.#withControl : this.#withoutControl;
    const ids: number[] = addSpecial && typeof parts[0] === 'string' ? [this.bos.id] : [];
    for (const part of parts) {
      if (typeof part === 'number') ids.push(part);
      else for (const id of tokenizer.encode(part, { add_special_tokens: false }).ids) ids.push(id);
    }
    return ids;
  }

  /** The bytes of one token; undefined if the vocabulary has no such id. */
  piece(id: number): Buffer | undefined {
    return this.#pieces[id];
  }

  /**
   * Control tokens are written as their text; a character cut off at the end becomes U+FFFD.
   * @throws RangeError if an id is not in the vocabulary.
   */
  detokenize(ids: readonly number[]): string {
    return Buffer.concat(
      ids.map((id) => {
        const piece = this.#pieces[id];
        if (piece === undefined) {
          throw new RangeError(
            `token id ${id} is not in the vocabulary; ids are 0 to ${this.#pieces.length - 1}`,
          );
        }
        return piece;
      }),
    ).toString();
  }
}

/** Reads the tokenizer that lies beside this file, in the sources as in the build. */
export function loadDemoTokenizer(): DemoTokenizer {
  return new DemoTokenizer(readFileSync(new URL('tokenizer.json', import.meta.url), 'utf8'));
}
