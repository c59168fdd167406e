/** How many characters may be read in looking for what is not where it is expected: a search of many things stays linear. */
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
}
