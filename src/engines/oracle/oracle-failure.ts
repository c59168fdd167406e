/** How an adapter's questions fail inside the adapter. Never leaves it: at its surface it becomes an unknown. */
import type { Unknown, UnknownReason, Untold } from '../../exchange/token-read.ts';

/** A question that got no usable answer. */
export class OracleFailure extends Error {
  readonly reason: UnknownReason;
  /** The HTTP status of the answer; undefined if there was none. */
  readonly status: number | undefined;
  /** What the engine said; undefined if it said nothing. No part of the error's message, which is logged. */
  readonly engineSays: string | undefined;
  readonly #answer: Omit<Untold, 'reason'>;

  constructor(reason: UnknownReason, question: string, answer: Omit<Untold, 'reason'> = {}) {
    super(`${question} gave no usable answer: ${reason}`);
    this.reason = reason;
    this.status = answer.status;
    this.engineSays = answer.engineSays;
    this.#answer = answer;
  }

  /** What whoever asked is told of it. */
  get unknown(): Unknown {
    return { ...this.#answer, known: false, reason: this.reason };
  }
}

/**
 * True if the engine itself does not take the body that it was asked about, and would not the next time: 400 and 422, or 500
 * with a message (llama-server, of some chats that a template refuses). Whatever else goes wrong (a gateway's page, a key, a
 * limit on requests) is of the moment: nothing may be learnt of a template by it.
 */
export function isRefusal(error: unknown): error is OracleFailure {
  if (!(error instanceof OracleFailure)) return false;
  const { status, engineSays } = error;
  return status === 400 || status === 422 || (status === 500 && engineSays !== undefined);
}

/** @throws what `ask` throws, unless it is an OracleFailure */
export async function orUnknown<Answer>(ask: () => Promise<Answer>): Promise<Answer | Unknown> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OracleFailure) return error.unknown;
    throw error;
  }
}
