/** Where the next text of a conversation stands, gone on from the one before it: mostly by the same way for the same role. */
import { placeOf, standsAt } from './text-place.ts';

/** What stands between two texts is markup, most often the same for the same role. */
const reach = 4096;
/** Longer ways, as over the tools of a system message. */
const mostFar = 4;

export class NearPlace {
  readonly #rendered: string;
  /** How far behind what was before it such a text was found: by role, or by the sort of reasoning. */
  readonly #ways = new Map<string, number>();
  #far = 0;
  /** Behind what was found last. */
  at = 0;

  constructor(rendered: string) {
    this.#rendered = rendered;
  }

  /** -1 if it does not stand where the last text of that role or sort stood. */
  byWay(of: string, needle: string): number {
    const way = this.#ways.get(of);
    const start = this.at + (way ?? 0);
    return way !== undefined && standsAt(this.#rendered, needle, start) ? start : -1;
  }

  /** -1 if it does not begin near. @param slack how much more may stand before it */
  near(of: string, needle: string, slack: number): number {
    const way = placeOf(this.within(needle, slack), needle);
    if (way < 0) return -1;
    this.#ways.set(of, way);
    return this.at + way;
  }

  /** A few times only; -1 after these. */
  far(needle: string): number {
    if (this.#far >= mostFar) return -1;
    this.#far += 1;
    return placeOf(this.#rendered, needle, this.at);
  }

  /** The stretch of the prompt that a text stands in which is near. */
  within(needle: string, slack: number): string {
    return this.#rendered.slice(this.at, this.at + reach + needle.length + slack);
  }
}
