/** Places of texts in a prompt: which of them can be gone on from, and what is outside of all. */
import type { Found } from './written-forms.ts';

/** A shorter text stands in other texts, and in markup, by chance. */
export const leastAnchor = 12;

/** True where the text is long enough to stand nowhere by chance. */
export function isAnchor(place: Found | undefined): place is Found {
  return place !== undefined && place.end - place.start >= leastAnchor;
}

/** What the text has outside the ranges, which are in order and may overlap. */
export function outside(text: string, ranges: readonly Found[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    if (start > at) pieces.push(text.slice(at, start));
    at = Math.max(at, end);
  }
  pieces.push(text.slice(at));
  // A name at the end of one piece is no name with the beginning of the next.
  return pieces.join('\n');
}

/** Ranges in the order of their starts, those that overlap together; no group is empty. */
export function overlapping<Range extends Found>(ranges: readonly Range[]): readonly Range[][] {
  const groups: Range[][] = [];
  let end = 0;
  for (const range of ranges) {
    const last = groups.at(-1);
    if (last === undefined || range.start >= end) groups.push([range]);
    else last.push(range);
    end = Math.max(end, range.end);
  }
  return groups;
}

/** Places of texts in the order in which they were found, of which there may be very many, and most are never asked for. */
export class Places {
  /** Starts and ends by turns. */
  readonly #bounds: number[] = [];
  count = 0;

  add(start: number, end: number): void {
    this.#bounds[this.count * 2] = start;
    this.#bounds[this.count * 2 + 1] = end;
    this.count += 1;
  }

  clear(): void {
    this.count = 0;
  }

  /** In the order of the prompt. @param end the number of the first that is not wanted */
  from(first: number, end: number): readonly Found[] {
    const found = Array.from({ length: end - first }, (_, index) => ({
      start: this.#bounds[(first + index) * 2] ?? 0,
      end: this.#bounds[(first + index) * 2 + 1] ?? 0,
    }));
    return found.sort((one, other) => one.start - other.start);
  }
}
