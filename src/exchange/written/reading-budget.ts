/** How many characters may be read in looking for what is not where it is expected, so that a search stays linear. */

/** So many characters are read in the time that it takes to begin a comparison. */
const comparison = 64;

export class ReadingBudget {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  /** True once it is used up: what was not found by then is not known to be missing. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** False if it is used up, now or before. */
  spend(characters: number): boolean {
    this.#left -= characters;
    return !this.isSpent;
  }

  /** For a comparison at one place, which costs more than the characters that it reads. */
  compare(characters: number): boolean {
    return this.spend(comparison + characters);
  }
}
