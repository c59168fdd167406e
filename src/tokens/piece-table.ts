/**
 * What ids say, learnt from a tokenizer's own entries as they come by: the text of a prompt for an engine that tells its
 * ids only. An id that has not been seen makes the text unknown, never a guess.
 */
import { pieceOf, type Piece, type VocabularyAlphabet } from './vocabulary-alphabet.ts';

/** A prompt's text, cut where markers begin. */
export interface PieceText {
  readonly text: string;
  readonly segments: readonly { readonly tokenStart: number; readonly textStart: number }[];
}

export class PieceTable {
  readonly #alphabet: VocabularyAlphabet;
  readonly #pieces = new Map<number, Piece>();
  readonly #unsaid = new Set<number>();

  constructor(alphabet: VocabularyAlphabet) {
    this.#alphabet = alphabet;
  }

  /** @param entries of the vocabulary, one per id; a tokenizer has none for ids beyond its vocabulary */
  learn(ids: Uint32Array, entries: readonly (string | undefined)[]): void {
    for (const [index, id] of ids.entries()) {
      if (this.#pieces.has(id)) continue;
      const entry = entries[index];
      // One that says so itself is no entry: a tokenizer has decoded a part of a character.
      if (entry === undefined || entry.includes('\uFFFD')) this.#unsaid.add(id);
      else this.#pieces.set(id, pieceOf(entry, this.#alphabet));
    }
  }

  /** Ids of which it is not to be learnt what they say. */
  giveUp(ids: Iterable<number>): void {
    for (const id of ids) if (!this.#pieces.has(id)) this.#unsaid.add(id);
  }

  /** True for an id of which nothing has been learnt yet. */
  isNew(id: number): boolean {
    return !this.#pieces.has(id) && !this.#unsaid.has(id);
  }

  /**
   * @param start index of the first id that is said
   * @param markers texts of the ids that begin a segment
   * @returns undefined if an id has not been seen
   */
  read(ids: Uint32Array, start: number, markers: ReadonlyMap<number, string>): PieceText | undefined {
    const parts: string[] = [];
    const segments = [{ tokenStart: start, textStart: 0 }];
    let length = 0;
    let bytes: Uint8Array[] = [];
    const say = (text: string): void => {
      parts.push(text);
      length += text.length;
    };
    const sayBytes = (): void => {
      if (bytes.length === 0) return;
      say(Buffer.concat(bytes).toString('utf8'));
      bytes = [];
    };
    for (let at = start; at < ids.length; at += 1) {
      const id = ids[at] ?? 0;
      const marker = markers.get(id);
      const piece = marker ?? this.#pieces.get(id);
      if (piece === undefined) return undefined;
      if (typeof piece !== 'string') {
        bytes.push(piece);
        continue;
      }
      sayBytes();
      if (marker !== undefined && at > start) segments.push({ tokenStart: at, textStart: length });
      say(piece);
    }
    sayBytes();
    return { text: parts.join(''), segments };
  }
}
