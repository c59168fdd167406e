/** What the doctor found out, as data: facts, advice, and the comparison of tokenizations. Printed by report.ts, or as JSON. */
import type { TokenizationView } from '../engines/engine.ts';
import type { Severity } from '../exchange/finding.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { UnknownReason } from '../exchange/token-read.ts';

/** How one model is served. */
export interface Serving {
  readonly facts: ModelFacts;
  /** Inspected paths of the engine, by what they take: messages, or text. */
  readonly routes: { readonly chat: readonly string[]; readonly text: readonly string[] };
  /** BOS tokens at the start of a rendered chat prompt; absent if the engine did not render one. */
  readonly chatBosTokens?: number;
  /** Context that the model was trained for, in tokens; 0 if the engine does not tell. */
  readonly trainedContextTokens: number;
}

/** Stay the same when the wording changes; each stands in docs/doctor.md. */
export const adviceIds = [
  'chat-bos-repeated',
  'bos-added-to-text',
  'text-without-bos',
  'no-bos',
  'eos-added-to-text',
  'template-writes-date',
  'raw-text-untemplated',
  'markers-in-user-text',
  'think-tail',
  'context-below-trained',
  'one-slot',
] as const;
export type AdviceId = (typeof adviceIds)[number];

export interface Advice {
  readonly id: AdviceId;
  readonly severity: Severity;
  /** What goes wrong, and for which client. */
  readonly message: string;
  /** What to change, and who must. */
  readonly advice: string;
}

/** What became of a probe request, as the detectors tell it. */
export interface Observation {
  /** `kind;cause` of the finding, as in the header of a reply; `refused` where the engine takes no such request. */
  readonly id: string;
  readonly severity: Severity;
  /** What the request came with. */
  readonly sends: string;
  readonly message: string;
  readonly advice: string;
}

/** A text in all the ways in which the engine can tokenize it. */
export interface ExplainedText {
  readonly text: string;
  /** A reason if the engine could not be asked. */
  readonly views: readonly TokenizationView[] | UnknownReason;
}

/** Why there is nothing to report, in words. */
export interface Silence {
  readonly reason: UnknownReason;
  readonly message: string;
  readonly advice: string;
  /** True if the command was called wrongly, false if the engine can't be asked. */
  readonly isUsage: boolean;
}

/** Probe requests to which the engine did not answer as an engine does: of them nothing is known. */
export interface Untold {
  readonly requests: number;
  readonly of: number;
  /** That of the first. */
  readonly silence: Silence;
}

export type Diagnosis =
  | {
      readonly known: true;
      readonly upstream: string;
      readonly serving: Serving;
      readonly advice: readonly Advice[];
      readonly observed: readonly Observation[];
      /** Absent if all of them were answered. */
      readonly untold?: Untold;
      readonly explained?: ExplainedText;
    }
  | { readonly known: false; readonly upstream: string; readonly silence: Silence };
