/**
 * Facts of a model while its engine does not say whether it is still the same: it stalls, or it sleeps. What was learnt
 * is enough to judge a prompt's head by; the engine is asked nothing on the strength of it, for that might wake it.
 */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { UnknownReason } from '../../exchange/token-read.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';
import type { KnownModel } from '../model-registry.ts';

/** An engine that says what it is at all says it within milliseconds. */
const patienceMs = 250;

/** Failures that say nothing against what was known before. */
const undoubting: readonly UnknownReason[] = ['oracle-timeout', 'engine-sleeping'];

export class FactPatience {
  /** By the copies of facts that were handed out before the engine confirmed them. */
  readonly #confirming = new WeakMap<ModelFacts, Promise<KnownModel>>();

  /**
   * What the engine confirms, or, where it takes too long or can't be asked, what was known before.
   * @param stillHolds asked when patience is over: false if the engine has meanwhile shown that it changed
   * @throws what `confirming` does if nothing was known before, or if it speaks against it
   */
  async facts(
    confirming: Promise<KnownModel>,
    before: KnownModel | undefined,
    stillHolds: () => boolean,
  ): Promise<ModelFacts> {
    if (before === undefined) return (await confirming).facts;
    const confirmed = await within(confirming.catch(undefinedIfUndoubting), patienceMs);
    if (confirmed !== undefined) return confirmed.facts;
    if (!stillHolds()) return (await confirming).facts;
    const facts = { ...before.facts };
    this.#confirming.set(facts, confirming);
    return facts;
  }

  /**
   * Resolves once the engine may be asked about the model that the facts are of.
   * @throws OracleFailure if it can't be asked, or serves another model by now
   */
  async confirmed(facts: ModelFacts): Promise<void> {
    const now = await this.#confirming.get(facts);
    if (now !== undefined && now.facts.identity !== facts.identity) {
      throw new OracleFailure('facts-missing', '/props');
    }
  }
}

function undefinedIfUndoubting(error: unknown): undefined {
  if (error instanceof OracleFailure && undoubting.includes(error.reason)) return undefined;
  throw error;
}

async function within<Value>(work: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, milliseconds);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
