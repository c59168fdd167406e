/** How an adapter's questions fail inside the adapter. Never leaves it: at its surface it becomes an unknown. */
import { unknown, type Unknown, type UnknownReason } from '../../exchange/token-read.ts';

/** A question that got no usable answer. */
export class OracleFailure extends Error {
  readonly reason: UnknownReason;
  /** The HTTP status of the answer; undefined if there was none. */
  readonly status: number | undefined;
  /** What the engine said; undefined if it said nothing. No part of the error's message, which is logged. */
  readonly engineSays: string | undefined;
  constructor(
    reason: UnknownReason,
    question: string,
    answer: { readonly status?: number; readonly engineSays?: string | undefined } = {},
  ) {
    super(`${question} gave no usable answer: ${reason}`);
    this.reason = reason;
    this.status = answer.status;
    this.engineSays = answer.engineSays;
  }
}

/** @throws what `ask` throws, unless it is an OracleFailure */
export async function orUnknown<Answer>(ask: () => Promise<Answer>): Promise<Answer | Unknown> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OracleFailure) return unknown(error.reason, error.engineSays);
    throw error;
  }
}
