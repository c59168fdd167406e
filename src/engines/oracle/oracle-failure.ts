/** How an adapter's questions fail inside the adapter. Never leaves it: at its surface it becomes an unknown. */
import { unknown, type Unknown, type UnknownReason } from '../../exchange/token-read.ts';

/** A question that got no usable answer. */
export class OracleFailure extends Error {
  readonly reason: UnknownReason;
  /** The HTTP status of the answer; undefined if there was none. */
  readonly status: number | undefined;
  constructor(reason: UnknownReason, question: string, status?: number) {
    super(`${question} gave no usable answer: ${reason}`);
    this.reason = reason;
    this.status = status;
  }
}

/** @throws what `ask` throws, unless it is an OracleFailure */
export async function orUnknown<Answer>(ask: () => Promise<Answer>): Promise<Answer | Unknown> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OracleFailure) return unknown(error.reason);
    throw error;
  }
}
