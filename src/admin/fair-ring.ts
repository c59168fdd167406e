/** The newest records, bounded, of several sorts: a flood of one sort can't wash away the few records of another. */

interface Kept<Item> {
  readonly sequence: number;
  readonly item: Item;
}

/** When full, the oldest record of the sort that has the most is dropped. */
export class FairRing<Item> {
  readonly #capacity: () => number;
  readonly #sortOf: (item: Item) => string;
  /** Per sort, oldest first; none is empty. */
  readonly #kept = new Map<string, Kept<Item>[]>();
  #size = 0;
  #sequence = 0;

  /** @param capacity the most records kept over all sorts, at least 1; asked anew for each record */
  constructor(capacity: () => number, sortOf: (item: Item) => string) {
    this.#capacity = capacity;
    this.#sortOf = sortOf;
  }

  /** Records seen since the start, kept or not. */
  get seen(): number {
    return this.#sequence;
  }

  add(item: Item): void {
    this.#sequence += 1;
    const kept = { sequence: this.#sequence, item };
    const sort = this.#sortOf(item);
    const same = this.#kept.get(sort);
    if (same === undefined) this.#kept.set(sort, [kept]);
    else same.push(kept);
    this.#size += 1;
    const capacity = this.#capacity();
    while (this.#size > capacity) {
      this.#dropOne();
      this.#size -= 1;
    }
  }

  /** Newest first. */
  list(wanted: (item: Item) => boolean, limit: number): readonly Item[] {
    return [...this.#kept.values()]
      .flat()
      .filter(({ item }) => wanted(item))
      .toSorted((a, b) => b.sequence - a.sequence)
      .slice(0, limit)
      .map(({ item }) => item);
  }

  /** Of equally full sorts the one with the oldest record, so that the newest record is never dropped. */
  #dropOne(): void {
    const order = (a: Kept<Item>[], b: Kept<Item>[]): number =>
      b.length - a.length || (a[0]?.sequence ?? 0) - (b[0]?.sequence ?? 0);
    const [fullest] = [...this.#kept.entries()].toSorted(([, a], [, b]) => order(a, b));
    if (fullest === undefined) return;
    const [sort, records] = fullest;
    records.shift();
    if (records.length === 0) this.#kept.delete(sort);
  }
}
