/**
 * What ids say, learnt from a tokenizer's own entries as they come by: the text of a prompt for an engine that tells its
 * ids only. An id that has not been seen makes the text unknown, never a guess.
 */
import { isMarkerLike, type MarkerPattern } from './markers.ts';
import { pieceOf, type VocabularyAlphabet } from './vocabulary-alphabet.ts';

/** A prompt's text, cut where markers begin. */
export interface PieceText {
  readonly text: string;
  readonly segments: readonly { readonly tokenStart: number; readonly textStart: number }[];
}

/** Vocabularies have some hundred thousand entries: what is beyond is not learnt. */
const mostIds = 1 << 22;

/** As many as are tried of a model. */
const mostMarkerLike = 256;

/** Instead of the place of its bytes: of an id that is not seen yet, and of one of which it is not to be learnt what it says. */
const unseen = 0;
const unsaid = 1;
const firstPlace = 2;

export class PieceTable {
  readonly #alphabet: VocabularyAlphabet;
  /** UTF-8 of all pieces, one after the other: a prompt is copied together faster than strings are found and joined. */
  #bytes = new Uint8Array(64 * 1024);
  #end = firstPlace;
  /** By id, two numbers: the place of its bytes and behind them. */
  #spans = new Uint32Array(64 * 1024);

  readonly #markerLike = new Set<string>();

  constructor(alphabet: VocabularyAlphabet) {
    this.#alphabet = alphabet;
  }

  /** @param entries of the vocabulary, one per id; a tokenizer has none for ids beyond its vocabulary */
  learn(ids: Uint32Array, entries: readonly (string | undefined)[]): void {
    ids.forEach((id, index) => {
      if (this.#placeOf(id) >= firstPlace) return;
      const entry = entries[index];
      // One that says so itself is no entry: a tokenizer has decoded a part of a character.
      if (entry === undefined || entry.includes('\uFFFD')) this.#place(id, unsaid);
      else {
        this.#keep(id, Buffer.from(pieceOf(entry, this.#alphabet)));
        if (this.#markerLike.size < mostMarkerLike && isMarkerLike(entry)) this.#markerLike.add(entry);
      }
    });
  }

  /** Entries that look like markers: candidates, of which nothing is proven. */
  get markerLike(): ReadonlySet<string> {
    return this.#markerLike;
  }

  /** Ids of which it is not to be learnt what they say. */
  giveUp(ids: Iterable<number>): void {
    for (const id of ids) if (this.isNew(id)) this.#place(id, unsaid);
  }

  /** True for an id of which nothing has been learnt yet. */
  isNew(id: number): boolean {
    return id < mostIds && this.#placeOf(id) === unseen;
  }

  /**
   * @param start index of the first id that is said
   * @param markers begin a segment each, and say their texts
   * @returns undefined if an id has not been seen
   */
  read(
    ids: Uint32Array,
    start: number,
    markers: Pick<MarkerPattern, 'ids' | 'textById'>,
  ): PieceText | undefined {
    const size = this.#sizeOf(ids, start, markers.ids);
    if (size === undefined) return undefined;
    const said = Buffer.allocUnsafe(size);
    const parts: string[] = [];
    const segments = [];
    let textStart = 0;
    let from = 0;
    for (let tokenStart = start; segments.length === 0 || tokenStart < ids.length;) {
      segments.push({ tokenStart, textStart });
      const marker = markers.textById.get(ids[tokenStart] ?? -1);
      const first = marker === undefined ? tokenStart : tokenStart + 1;
      const end = endOfSegment(ids, first, markers.ids);
      const to = this.#copy(ids, first, end, said, from);
      const part = (marker ?? '') + said.toString('utf8', from, to);
      parts.push(part);
      textStart += part.length;
      from = to;
      tokenStart = end;
    }
    return { text: parts.join(''), segments };
  }

  /** @returns the offset behind what the ids from `start` to `end` say; runs for each byte of a prompt */
  #copy(ids: Uint32Array, start: number, end: number, said: Buffer, from: number): number {
    const [spans, bytes] = [this.#spans, this.#bytes];
    let to = from;
    for (let at = start; at < end; at += 1) {
      const span = 2 * (ids[at] ?? 0);
      const behind = spans[span + 1] ?? 0;
      for (let byte = spans[span] ?? 0; byte < behind; byte += 1) {
        said[to] = bytes[byte] ?? 0;
        to += 1;
      }
    }
    return to;
  }

  /** How many bytes the ids say that are no markers; undefined if one of them has not been seen. */
  #sizeOf(ids: Uint32Array, start: number, markerIds: MarkerPattern['ids']): number | undefined {
    const spans = this.#spans;
    let size = 0;
    for (let at = start; at < ids.length; at += 1) {
      const id = ids[at] ?? 0;
      const place = spans[2 * id] ?? unseen;
      if (place >= firstPlace) size += (spans[2 * id + 1] ?? 0) - place;
      else if (!markerIds.has(id)) return undefined;
    }
    return size;
  }

  #placeOf(id: number): number {
    return this.#spans[2 * id] ?? unseen;
  }

  #keep(id: number, bytes: Uint8Array): void {
    if (!this.#place(id, this.#end)) return;
    while (this.#end + bytes.length > this.#bytes.length) this.#bytes = twice(this.#bytes);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
    this.#spans[2 * id + 1] = this.#end;
  }

  #place(id: number, place: number): boolean {
    if (id >= mostIds) return false;
    while (2 * id >= this.#spans.length) this.#spans = twice(this.#spans);
    this.#spans[2 * id] = place;
    return true;
  }
}

function endOfSegment(ids: Uint32Array, first: number, markerIds: MarkerPattern['ids']): number {
  let end = first;
  while (end < ids.length && !markerIds.has(ids[end] ?? -1)) end += 1;
  return end;
}

function twice<Numbers extends Uint8Array | Uint32Array>(numbers: Numbers): Numbers {
  const larger = new (numbers.constructor as new (length: number) => Numbers)(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
