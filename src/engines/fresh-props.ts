/**
 * The engine's answer of a moment ago to "what do you serve, and are you awake": one question for all requests of that
 * moment. Never older than that moment, and never an answer that failed.
 */
import type { AskContext } from './engine.ts';
import type { LlamaOracle, LlamaProps } from './llama-oracle.ts';

/** How long an answer of `/props` stands for "awake and unchanged"; `--sleep-idle-seconds` counts whole seconds. */
const freshMs = 900;

const neverAborted = new AbortController().signal;

export class FreshProps {
  readonly #oracle: LlamaOracle;
  /** By model; '' for the engine itself. */
  readonly #answers = new Map<string, { untilMs: number; props: Promise<LlamaProps> }>();

  constructor(oracle: LlamaOracle) {
    this.#oracle = oracle;
  }

  /** `/props` neither wakes nor loads anything. @throws OracleFailure if there is no usable answer */
  async get(model: string | undefined, context: AskContext): Promise<LlamaProps> {
    const key = model ?? '';
    const known = this.#answers.get(key);
    if (known !== undefined && known.untilMs > Date.now()) return known.props;
    // Not tied to one exchange's signal: others wait for the same answer.
    const props = this.#oracle.props(model, { ...context, signal: neverAborted });
    const entry = { untilMs: Date.now() + freshMs, props };
    this.#answers.set(key, entry);
    try {
      return await props;
    } catch (error) {
      if (this.#answers.get(key) === entry) this.#answers.delete(key);
      throw error;
    }
  }

  /** Whatever answers next may be another process. */
  forget(): void {
    this.#answers.clear();
  }
}
