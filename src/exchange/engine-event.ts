/** An event is a fact about the engine, not about one exchange. Names and fields are part of the contract (docs/events.md). */
import type { ModelFacts } from './model-facts.ts';

/** Closed set: the value is a metric label. */
export const engineEvents = [
  'engine-cache-lost',
  'facts-changed',
  'facts-learnt',
  'ids-unverified',
  'ids-verified',
  'memoising-off',
  'oracle-available',
  'oracle-unavailable',
  'slots-oversubscribed',
] as const;
export type EngineEventName = (typeof engineEvents)[number];

export const changingFacts = ['template', 'bos', 'context', 'build', 'markers'] as const;
export type ChangingFact = (typeof changingFacts)[number];

export type EngineEvent =
  | { readonly event: 'facts-learnt'; readonly facts: ModelFacts }
  | {
      readonly event: 'facts-changed';
      readonly modelName: string;
      readonly what: ChangingFact;
      /** The fact before and after, as people compare it; holds control-token texts, hashes and numbers. */
      readonly from: string;
      readonly to: string;
      /** When the engine last showed the fact as it was, in milliseconds since 1970: it changed after that. */
      readonly lastSeenMs: number;
    }
  | {
      /** All that the engine had cached is gone. Told once, however many prompts miss it. */
      readonly event: 'engine-cache-lost';
      readonly modelName: string;
      readonly reason: 'restart' | 'sleep';
    }
  | {
      readonly event: 'slots-oversubscribed';
      readonly modelName: string;
      readonly slots: number;
      /** Conversations that are under way. */
      readonly sessions: number;
      /** The engine's flag that sets the number of slots; absent if it has none. */
      readonly flag?: string;
    }
  | {
      readonly event: 'ids-unverified' | 'ids-verified';
      readonly modelName: string;
      /** The kind of route whose ids they are. */
      readonly route: string;
    }
  | { readonly event: 'memoising-off'; readonly modelName: string }
  | { readonly event: 'oracle-unavailable' | 'oracle-available'; readonly reason: string };

/** An event as it leaves the process: the log, the events API, the inspector page. */
export interface EventRecord {
  readonly event: EngineEventName;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** False for the end of a trouble and for what is only worth knowing. */
  readonly trouble: boolean;
  /** One sentence for people. */
  readonly message: string;
  /** What the event's own kind adds, by name: see docs/events.md. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
}
