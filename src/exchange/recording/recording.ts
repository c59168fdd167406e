/**
 * A recording: exchanges as JSON Lines with the ids and the facts of their time, to be judged and compared later without
 * the engine that they were recorded from (docs/recordings.md). Types; read by recording-reader.ts, written by recording-writer.ts.
 */
import type { ModelFacts } from '../model-facts.ts';
import type { Reference } from '../reference.ts';
import type { Route } from '../request/route.ts';
import type { RecordedReply } from './recorded-reply.ts';
import type { AddedIds, CutPart, UnknownReason } from '../token-read.ts';

export const recordingVersion = 1;

/** The first line of a file; may come again where files were joined. */
export interface RecordingHeader {
  readonly type: 'recording';
  readonly version: typeof recordingVersion;
  /** Who wrote it, for people: `tokenweir 0.1.0`. */
  readonly writtenBy: string;
}

/** What was known of a model. Stands before the exchanges that name its hash. */
export interface RecordedFacts {
  readonly type: 'facts';
  readonly hash: string;
  readonly facts: ModelFacts;
}

export interface RecordedExchange {
  readonly type: 'exchange';
  readonly id: string;
  /** When the ids were read: ISO 8601, UTC. */
  readonly date: string;
  readonly route: Route;
  /** The engine's, at that time. */
  readonly build: string;
  /** The hash of a facts line above. */
  readonly facts: string;
  /** Pseudonym of the client; exchanges of different clients are never turns of one conversation. */
  readonly client: string;
  /** Names the conversation that the request is a turn of; absent if nobody named it. */
  readonly session?: string;
  /** The body as the client sent it. Absent where the recording is to hold no text. */
  readonly body?: string;
  /** What the prompts should be; absent if nobody said. */
  readonly reference?: Reference;
  /** One per prompt index. */
  readonly prompts: readonly RecordedPrompt[];
  /** Absent where none was seen: a check generates none. */
  readonly reply?: RecordedReply;
}

export type RecordedPrompt =
  | {
      /** The prompt itself, as `/detokenize` shows: a file with ids is to be kept like the text. */
      readonly ids: readonly number[];
      readonly source: 'engine' | 'client';
      /** The text that was tokenized; absent for ids from the client. */
      readonly text?: string;
      /** Where each segment starts: index into `ids`, UTF-16 offset into `text`. */
      readonly segments?: readonly (readonly [tokenStart: number, textStart: number])[];
      /** The part that the request had cut off; absent where the prompt is whole. */
      readonly cut?: CutPart;
      /** What the engine put in front by itself; absent where the facts say so for the route. */
      readonly added?: AddedIds;
    }
  /** Keyed pseudonyms of the ids: equal ids have equal ones. Enough to see what was shared, not what was said. */
  | { readonly pseudonyms: readonly string[] }
  | {
      readonly unknown: UnknownReason;
      /** The first ids, where those were known. */
      readonly head?: readonly number[];
    };

export type RecordingLine = RecordingHeader | RecordedFacts | RecordedExchange;

/** An exchange of a file with the facts that it names. */
export interface RecordingEntry {
  /** Counts from 1. */
  readonly line: number;
  readonly exchange: RecordedExchange;
  readonly facts: ModelFacts;
}
