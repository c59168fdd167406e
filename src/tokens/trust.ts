/**
 * How far a model's ids are trusted. Memoising ends at the first mismatch with the engine; after several on one route
 * the ids of that route are unverified, and strict mode stops blocking on them. Pure state, one object per model.
 */

/** Count mismatches in a row on one route after which its ids count as unverified. */
const unverifiedAfter = 3;
/** Matches in a row after which they count as verified again. */
const verifiedAfter = 10;

export type TrustChange = 'memoising-off' | 'unverified' | 'verified';

interface RouteTrust {
  mismatchesInARow: number;
  matchesInARow: number;
  verified: boolean;
}

export class TokenTrust {
  #memoising = true;
  readonly #routes = new Map<string, RouteTrust>();

  get memoising(): boolean {
    return this.#memoising;
  }

  /**
   * False once the engine's own counts have contradicted ours several times in a row.
   * @param route kept apart from others: what is wrong on one (how its bodies are read) need not be on another. Without
   * one: false if any route's ids are unverified
   */
  verified(route?: string): boolean {
    const routes = route === undefined ? [...this.#routes.values()] : [this.#routes.get(route)];
    return routes.every((trust) => trust?.verified !== false);
  }

  /** The sampled window, tokenized whole, gave other ids than its segments. */
  windowMismatched(): TrustChange[] {
    return this.#stopMemoising();
  }

  countMatched(route: string): TrustChange[] {
    const trust = this.#trustIn(route);
    trust.mismatchesInARow = 0;
    trust.matchesInARow += 1;
    if (trust.verified || trust.matchesInARow < verifiedAfter) return [];
    trust.verified = true;
    return ['verified'];
  }

  /** @param doubtsMemory false where another reason than memoised segments is the likely one */
  countMismatched(route: string, doubtsMemory = true): TrustChange[] {
    const trust = this.#trustIn(route);
    trust.matchesInARow = 0;
    trust.mismatchesInARow += 1;
    const changes = doubtsMemory ? this.#stopMemoising() : [];
    if (trust.mismatchesInARow >= unverifiedAfter && trust.verified) {
      trust.verified = false;
      changes.push('unverified');
    }
    return changes;
  }

  #trustIn(route: string): RouteTrust {
    const known = this.#routes.get(route);
    if (known !== undefined) return known;
    const trust = { mismatchesInARow: 0, matchesInARow: 0, verified: true };
    this.#routes.set(route, trust);
    return trust;
  }

  #stopMemoising(): TrustChange[] {
    if (!this.#memoising) return [];
    this.#memoising = false;
    return ['memoising-off'];
  }
}
