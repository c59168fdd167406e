/** Token ids are known, with their source, or unknown, with a reason. Unknown is never turned into "clean". */
import type { Edit } from './edits.ts';

export const unknownReasons = [
  'answer-too-large',
  'body-too-large',
  'budget-exhausted',
  'compressed-body',
  'engine-busy',
  'engine-cannot',
  'engine-loading',
  'engine-sleeping',
  'engine-unreachable',
  'exempt',
  'facts-missing',
  'held-bytes-exhausted',
  'inspection-failed',
  'media',
  'model-not-loaded',
  'oracle-error',
  'oracle-refused',
  'oracle-timeout',
  'route-not-inspected',
  'unreadable-body',
] as const;
/** Closed set: the value is a metric label and stands in the `tokenweir-inspection` header. */
export type UnknownReason = (typeof unknownReasons)[number];

export interface Unknown {
  readonly known: false;
  readonly reason: UnknownReason;
  /** What the engine said to it, for people who asked: it may tell of the template or the request, so nothing keeps it. */
  readonly engineSays?: string;
  /** HTTP status of the answer that told nothing; absent if there was none. */
  readonly status?: number;
  /** When to ask again, as the answer's `Retry-After` has it: seconds, or a date. */
  readonly retryAfter?: string;
}

/** Why something is not known, with what there was of an answer. */
export type Untold = Omit<Unknown, 'known'>;

export function unknown(reason: UnknownReason, engineSays?: string): Unknown {
  return { known: false, reason, ...(engineSays !== undefined && { engineSays }) };
}

/** What the engine said where it told nothing of a prompt, as a member to spread; {} where it told, or said nothing. */
export function engineSaysIn(prompts: readonly TokenRead[]): Pick<Unknown, 'engineSays'> {
  const says = prompts.map((read) => (read.known ? undefined : read.engineSays));
  const first = says.find((words) => words !== undefined);
  return first === undefined ? {} : { engineSays: first };
}

/** One prompt's ids as the engine will feed them to the model. */
export interface KnownTokens {
  readonly known: true;
  readonly ids: Uint32Array;
  /** `engine`: tokenized by the engine (possibly memoised); `client`: the client sent ids. */
  readonly source: 'engine' | 'client';
  /** The text that was tokenized, before BOS; absent for ids from the client. Lives only as long as the exchange. */
  readonly text?: string;
  /** Keyed digests of the text's segments, in order, and the token offset at which each starts. */
  readonly segments?: readonly SegmentRead[];
  /** Which part of the prompt is gone because the request has the engine cut it; absent where it is whole. */
  readonly cut?: CutPart;
}

export const cutParts = ['start', 'end'] as const;
export type CutPart = (typeof cutParts)[number];

export interface SegmentRead {
  readonly key: string;
  /** Index into `ids` of the segment's first token. */
  readonly tokenStart: number;
  /** UTF-16 offset into `text` of the segment's first character. */
  readonly textStart: number;
}

export type TokenRead = KnownTokens | Unknown;

/** The first ids of a prompt: enough to judge its head, without waiting for the rest. */
export interface KnownHead {
  readonly known: true;
  readonly ids: readonly number[];
  /** Absent where the model facts say what the route adds, whatever the request says. */
  readonly added?: AddedIds;
  /** As in the whole prompt. */
  readonly cut?: CutPart;
}

/** What the engine itself puts in front of one prompt, where requests differ in that. */
export interface AddedIds {
  readonly ids: readonly number[];
  /** `request`: a field of it asks for them; `route`: the route adds them unasked. */
  readonly by: 'request' | 'route';
  /** The field that decides; absent if none does. */
  readonly field?: string;
  /** Edits of the body after which nothing is added, and nothing else is different; absent if there are none such. */
  readonly without?: readonly Edit[];
}
export type HeadRead = KnownHead | Unknown;
