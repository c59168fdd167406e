/**
 * The engine's answer of a moment ago to "what do you serve, and are you awake": one question for all requests of that
 * moment. Never older than that moment or than a lost connection, and never an answer that failed.
 */
import type { AskContext } from './engine.ts';
import { OracleFailure, type LlamaOracle, type LlamaProps } from './llama-oracle.ts';

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
    const known = this.#answers.get(model ?? '');
    if (known === undefined || known.untilMs <= Date.now()) return this.#ask(model, context);
    try {
      return await known.props;
    } catch (error) {
      // Another's key was refused, which says nothing about this one's.
      if (error instanceof OracleFailure && error.reason === 'oracle-refused')
        return this.#ask(model, context);
      throw error;
    }
  }

  async #ask(model: string | undefined, context: AskContext): Promise<LlamaProps> {
    const key = model ?? '';
    // Not tied to one exchange's signal: others wait for the same answer.
    const asked = this.#oracle.props(model, { ...context, signal: neverAborted });
    const entry = { untilMs: Date.now() + freshMs, props: asked };
    this.#answers.set(key, entry);
    const drop = (): void => {
      if (this.#answers.get(key) === entry) this.#answers.delete(key);
    };
    try {
      const props = await asked;
      // The request that learns this wakes the engine.
      if (props.sleeping) drop();
      return props;
    } catch (error) {
      drop();
      throw error;
    }
  }

  /** Whatever answers next may be another process. */
  forget(): void {
    this.#answers.clear();
  }
}
