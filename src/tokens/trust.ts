/**
 * How far a model's ids are trusted. Memoising ends at the first mismatch with the engine; after several of one kind
 * the ids are unverified, and strict mode stops blocking on them. Pure state, one object per model identity.
 */

/** Count mismatches in a row on one route after which the model's ids count as unverified. */
const unverifiedAfter = 3;
/** Matches in a row after which they count as verified again. */
const verifiedAfter = 10;

export type TrustChange = 'memoising-off' | 'unverified' | 'verified';

export class TokenTrust {
  #memoising = true;
  #verified = true;
  readonly #mismatchesInARow = new Map<string, number>();
  #matchesInARow = 0;

  get memoising(): boolean {
    return this.#memoising;
  }

  /** False once the engine's own counts have contradicted ours several times in a row. */
  get verified(): boolean {
    return this.#verified;
  }

  /** The sampled window, tokenized whole, gave other ids than its segments. */
  windowMismatched(): TrustChange[] {
    return this.#stopMemoising();
  }

  countMatched(kind: string): TrustChange[] {
    this.#mismatchesInARow.delete(kind);
    this.#matchesInARow += 1;
    if (this.#verified || this.#matchesInARow < verifiedAfter) return [];
    this.#verified = true;
    return ['verified'];
  }

  /** `kind` keeps kinds of traffic apart: a route whose counts mean something else must not be masked by others. */
  countMismatched(kind: string): TrustChange[] {
    this.#matchesInARow = 0;
    const inARow = (this.#mismatchesInARow.get(kind) ?? 0) + 1;
    this.#mismatchesInARow.set(kind, inARow);
    const changes = this.#stopMemoising();
    if (inARow >= unverifiedAfter && this.#verified) {
      this.#verified = false;
      changes.push('unverified');
    }
    return changes;
  }

  #stopMemoising(): TrustChange[] {
    if (!this.#memoising) return [];
    this.#memoising = false;
    return ['memoising-off'];
  }
}
