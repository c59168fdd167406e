/**
 * Looks for marker-like texts in traffic that the template did not show, and has them proven in the background. A
 * marker that is missed costs speed, never truth; so this is bounded, and gives up quietly.
 */
import type { Marker } from '../../exchange/model-facts.ts';
import { proveBoundaries, withKinds, type TokenizeMany } from '../../tokens/boundary-proof.ts';
import { markerCandidates } from '../../tokens/markers.ts';

/** Per model: texts that were tried, proven or not. */
const mostTried = 256;
const mostAtOnce = 16;
/** Of each prompt's new text; markers recur, so the next prompt shows what this one hides further down. */
const mostCharacters = 64 * 1024;

export class MarkerScout {
  readonly #tried = new Map<string, Set<string>>();
  readonly #found: (identity: string, markers: readonly Marker[]) => void;
  #busy = false;

  constructor(found: (identity: string, markers: readonly Marker[]) => void) {
    this.#found = found;
  }

  /**
   * Returns at once; at most one proof is under way at any time.
   * @param tokenizeOrdinary absent where the engine can't read control tokens as text
   */
  look(
    text: string,
    identity: string,
    known: ReadonlyMap<string, number>,
    tokenizeMany: TokenizeMany,
    tokenizeOrdinary?: TokenizeMany,
  ): Promise<void> {
    const tried = this.#tried.get(identity) ?? new Set<string>();
    if (this.#busy || tried.size >= mostTried) return Promise.resolve();
    const fresh = [...markerCandidates(text.slice(0, mostCharacters), mostTried)]
      .filter((candidate) => !known.has(candidate) && !tried.has(candidate))
      .slice(0, mostAtOnce);
    if (fresh.length === 0) return Promise.resolve();
    // Only the newest identities matter: an engine that restarts often must not grow this map.
    if (this.#tried.size > 64) this.#tried.clear();
    for (const candidate of fresh) tried.add(candidate);
    this.#tried.set(identity, tried);
    this.#busy = true;
    return proveBoundaries(fresh, tokenizeMany)
      .then((markers) => (tokenizeOrdinary === undefined ? markers : withKinds(markers, tokenizeOrdinary)))
      .then(
        (markers) => {
          this.#found(identity, markers);
        },
        () => undefined,
      )
      .finally(() => {
        this.#busy = false;
      });
  }
}
