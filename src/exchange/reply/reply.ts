/** What the engine said about its own work: filled by the adapter's reply reader while the bytes stream by. */
import type { JsonObject } from '../request/request.ts';
import type { TurnMark } from '../written/turn-marks.ts';
import type { TurnSightings } from '../written/turn-scan.ts';

export const finishReasons = ['stop', 'length', 'tool-calls', 'other'] as const;
export type FinishReason = (typeof finishReasons)[number];

export const unreadReasons = ['compressed', 'too-large', 'unexpected-shape', 'engine-error'] as const;

export interface ChoiceReply {
  /** The engine's index of the choice (choice index, or prompt index × n + choice). */
  readonly index: number;
  readonly finishReason?: FinishReason;
  /** Ids that the engine evaluated or reused for this choice's prompt; absent if the reply does not say. */
  readonly promptTokens?: number;
  /** Prompt ids that were not recomputed; absent means unknown, not zero. */
  readonly cachedTokens?: number;
  readonly completionTokens?: number;
  /** The reply's own prefill rate in tokens per second. */
  readonly prefillTokensPerSecond?: number;
  /** Ids of the prompt where the reply carries them. */
  readonly promptIds?: readonly number[];
  /** Generated ids where the reply carries them. */
  readonly generatedIds?: readonly number[];
  /** Argument texts of tool calls parse as JSON; absent if there are none. */
  readonly toolArgumentsValid?: boolean;
  /** The choice produced answer text (not only reasoning). */
  readonly hasAnswerText: boolean;
  readonly hasReasoning: boolean;
  readonly hasToolCalls: boolean;
  /** Beginnings of turns in the answer's text; absent if none were looked for. Reasoning is not looked at. */
  readonly turns?: TurnSightings;
}

/** The engine refused a request as too long for its context, in its own numbers; absent where it gives none. */
export interface ContextRefusal {
  /** Tokens of the prompt; engines that stop counting early give a lower bound. */
  readonly promptTokens?: number;
  /** Tokens that the answer may take, where the engine counts them in. */
  readonly answerTokens?: number;
  readonly contextTokens?: number;
}

export interface Reply {
  readonly status: number;
  /** True once any generation data has arrived: the engine then has the prompt in its cache. */
  readonly started: boolean;
  /** True if the reply ended as the protocol says (final object, `[DONE]`), not cut. */
  readonly complete: boolean;
  readonly choices: readonly ChoiceReply[];
  /** The reply was not readable (compressed, larger than what is kept, not the expected shape); counts are absent. */
  readonly unreadReason?: (typeof unreadReasons)[number];
  /** Only with `engine-error`: the error says that the request does not fit into the context. */
  readonly refusal?: ContextRefusal;
}

/** How a reply is to be read. */
export interface ReplyReading {
  /** Bound for what is kept: one event, or the body, tool arguments and generated ids. */
  readonly retainedBytes: number;
  /** What to look for in the text of answers; nothing if absent. */
  readonly turnMarks?: readonly TurnMark[];
  /** Reads an error in the engine's own shape; undefined if it is about something else. */
  readonly readRefusal?: (error: JsonObject) => ContextRefusal | undefined;
}

/** How an exchange ended. */
export const outcomes = [
  'completed',
  'rejected',
  'client-aborted',
  'upstream-failed',
  'proxy-failed',
] as const;
export type Outcome = (typeof outcomes)[number];

/** Reads a reply incrementally. Every byte is shown to it once, in order; it keeps no more than it was allowed. */
export interface ReplyReader {
  /** `contentType` and `contentEncoding` as sent by the engine, lower case, '' if absent. */
  start(status: number, contentType: string, contentEncoding: string): void;
  push(chunk: Buffer): void;
  /** Once; `cut` if the upstream died or the client left. */
  end(cut: boolean): Reply;
  /** True once generation data was seen. */
  readonly started: boolean;
}
