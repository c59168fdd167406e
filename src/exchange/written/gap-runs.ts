/** Whether a text and what is between two others share a run that is long enough not to be there by chance. */
import { anchorLength } from './written-forms.ts';

/** A run that is worth a look holds a whole piece of this length, at one of the places that are looked at. */
const pieceLength = 6;
const pieceStep = anchorLength - pieceLength + 1;

/** Longer gaps are not looked at: most slots would be taken. */
export const mostGap = 2048;
const slotBits = 13;
/** The last `pieceLength` characters, five bits further for each: what is older has left them. */
const hashBits = 0x3fff_ffff;

/**
 * Most texts that are left out share nothing with the gap, and most gaps are asked about more than one text: so the pieces of
 * the gap are noted once by their hashes, and a text is only compared where one of its own may be among them.
 */
export class GapRuns {
  readonly #marks = new Uint16Array(2 ** slotBits);
  #mark = 0;
  #gap = '';

  /**
   * True if both hold one run of `anchorLength` characters.
   * @param gap of `mostGap` characters at most
   */
  shares(text: string, gap: string): boolean {
    if (gap !== this.#gap) this.#read(gap);
    for (let at = 0; at + pieceLength <= text.length; at += pieceStep) {
      let hash = 0;
      for (let index = at; index < at + pieceLength; index += 1) hash = (hash << 5) ^ text.charCodeAt(index);
      if (this.#marks[slotOf(hash & hashBits)] === this.#mark && isInRun(text, at, gap)) return true;
    }
    return false;
  }

  #read(gap: string): void {
    this.#gap = gap;
    this.#mark += 1;
    if (this.#mark > 0xffff) {
      this.#marks.fill(0);
      this.#mark = 1;
    }
    let hash = 0;
    for (let index = 0; index < gap.length; index += 1) {
      hash = ((hash << 5) ^ gap.charCodeAt(index)) & hashBits;
      if (index >= pieceLength - 1) this.#marks[slotOf(hash)] = this.#mark;
    }
  }
}

function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e37_79b1) >>> (32 - slotBits);
}

/** True if the piece of the text there is part of a run that the gap holds. */
function isInRun(text: string, at: number, gap: string): boolean {
  const piece = text.slice(at, at + pieceLength);
  for (let place = gap.indexOf(piece); place >= 0; place = gap.indexOf(piece, place + 1)) {
    if (sharedRun(text, at, gap, place) >= anchorLength) return true;
  }
  return false;
}

/** How long the run is that both have around a piece of it. */
function sharedRun(one: string, at: number, other: string, place: number): number {
  let before = 0;
  while (before < Math.min(at, place) && one[at - before - 1] === other[place - before - 1]) before += 1;
  let after = pieceLength;
  while (at + after < one.length && one[at + after] === other[place + after]) after += 1;
  return before + after;
}
