/**
 * Remembers which facts of a model were told, so that each is told once per engine process and not with every request
 * that shows it. Facts are few; the bound is against an engine that is another one each time.
 */
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';

const mostRemembered = 1000;

export class ToldFacts {
  readonly #told = new Set<string>();

  /** True for what is no fact of the model, and for a fact at its first time, which this call makes the first. */
  isNew({ facts, modelName }: Exchange, { kind, fact }: Finding): boolean {
    if (fact === undefined) return true;
    const key = JSON.stringify([facts?.identity ?? modelName, kind, fact]);
    if (this.#told.has(key)) return false;
    const [oldest] = this.#told;
    if (oldest !== undefined && this.#told.size >= mostRemembered) this.#told.delete(oldest);
    this.#told.add(key);
    return true;
  }
}
