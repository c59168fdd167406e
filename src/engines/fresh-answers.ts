/**
 * An engine's answer of a moment ago to "what are you": one question for all requests of that moment. Never older than
 * that moment or than a lost connection, and never an answer that failed.
 */
import { untied } from './oracle/ask-context.ts';
import type { AskContext } from './engine.ts';
import { OracleFailure } from './oracle/oracle-failure.ts';

export interface FreshAnswersOptions<Answer> {
  /** How long an answer stands for "unchanged" while the connections hold. */
  readonly freshMs: number;
  /** @throws OracleFailure if there is no usable answer */
  readonly ask: (name: string, context: AskContext) => Promise<Answer>;
  /** False for an answer that holds for nobody else. */
  readonly holds?: (answer: Answer) => boolean;
}

/** Names come from clients: what they make up must not be kept. */
const mostNames = 64;

export class FreshAnswers<Answer> {
  readonly #options: FreshAnswersOptions<Answer>;
  /** By the model's name; '' for the engine's only or first one. */
  readonly #answers = new Map<string, { untilMs: number; answer: Promise<Answer> }>();

  constructor(options: FreshAnswersOptions<Answer>) {
    this.#options = options;
  }

  /** @throws OracleFailure if there is no usable answer */
  async get(name: string, context: AskContext): Promise<Answer> {
    const known = this.#answers.get(name);
    if (known === undefined || known.untilMs <= Date.now()) return this.#ask(name, context);
    try {
      return await known.answer;
    } catch (error) {
      // Another's key was refused, which says nothing about this one's.
      if (error instanceof OracleFailure && error.reason === 'oracle-refused')
        return this.#ask(name, context);
      throw error;
    }
  }

  /** True if `get` asks nothing now. */
  isFresh(name: string): boolean {
    return (this.#answers.get(name)?.untilMs ?? 0) > Date.now();
  }

  /** Whatever answers next may be another process. */
  forget(): void {
    this.#answers.clear();
  }

  async #ask(name: string, context: AskContext): Promise<Answer> {
    const { freshMs, ask, holds } = this.#options;
    if (this.#answers.size > mostNames) this.#answers.clear();
    const asked = ask(name, untied(context));
    const entry = { untilMs: Date.now() + freshMs, answer: asked };
    this.#answers.set(name, entry);
    const drop = (): void => {
      if (this.#answers.get(name) === entry) this.#answers.delete(name);
    };
    try {
      const answer = await asked;
      if (holds?.(answer) === false) drop();
      return answer;
    } catch (error) {
      drop();
      throw error;
    }
  }
}
