/** A finding is a fact about one exchange. Kinds, severities and culprits are pinned by a test (docs/detectors). */
import type { Edit } from './edits.ts';

export const severities = ['info', 'warning', 'error'] as const;
export type Severity = (typeof severities)[number];

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(least);
}

export const culprits = ['client', 'template', 'engine', 'model-file'] as const;
export type Culprit = (typeof culprits)[number];

export const findingKinds = [
  'content-lost',
  'context-overflow',
  'control-token-in-content',
  'count-mismatch',
  'double-bos',
  'foreign-template',
  'missing-bos',
  'missing-generation-prompt',
  'nested-template',
  'output-truncated',
  'parameter-ignored',
  'prefix-break',
  'prompt-truncated',
  'raw-prompt',
  'runaway-reply',
  'stringified-prompt',
  'template-drift',
  'template-missing',
  'tools-dropped',
  'trailing-assistant',
  'unwanted-bos',
] as const;
export type FindingKind = (typeof findingKinds)[number];

export const breakCauses = [
  'attribution-line',
  'empty-think-tail',
  'history-edited',
  'history-truncated',
  'reasoning-dropped',
  'retokenised',
  'salt-changed',
  'tools-changed',
  'tools-reordered',
  'unknown',
  'volatile-date',
  'volatile-text',
  'volatile-time',
] as const;
export type BreakCause = (typeof breakCauses)[number];

export interface Finding {
  readonly kind: FindingKind;
  /** The finer name within a kind: a break cause, or who added which BOS. Lower-case kebab, never prompt text. */
  readonly cause?: string;
  readonly severity: Severity;
  readonly culprit: Culprit;
  /** Which prompt of a batch, or which choice of a reply; 0 where there is one. */
  readonly promptIndex: number;
  /**
   * Token range in the prompt's ids, half open; empty, behind the last one, only for a prompt that ends where it would
   * leave its ancestor. Absent where the fact has no place (a reply's length).
   */
  readonly tokens?: { readonly start: number; readonly end: number };
  /** `prefix-break` only: tokens of the ancestor's prompt that can't be reused. */
  readonly lostTokens?: number;
  /** Prompt tokens that a repair made before forwarding spares the engine; absent where nothing was repaired so. */
  readonly savedTokens?: number;
  /** JSON path of the request's field that did it, e.g. `prompt` or `messages[0].content`. */
  readonly field?: string;
  /** Where in that field's text, in UTF-16 units, half open; absent where the fact has no place in a text. */
  readonly characters?: { readonly start: number; readonly end: number };
  /** One sentence that says what is wrong. Holds control-token texts, numbers and field names; never prompt text. */
  readonly message: string;
  /** One sentence that says what to change, and who must. */
  readonly advice: string;
  /**
   * Present where every such request shows it again, because the model or the engine is like that: the fact's name
   * within the kind. It is told once per model and engine process. Only for findings that block nothing.
   */
  readonly fact?: string;
  /** Present only if the repair is exact: applying the edits to the body removes the finding and nothing else. */
  readonly repair?: Repair;
}

export interface Repair {
  readonly edits: readonly Edit[];
  readonly proof: RepairProof;
}

/**
 * What shows that a repair is exact. `ids`: the prompt's ids are the old ones without this many surplus leading ones.
 * `rereading`: the repaired request, read and judged again, has lost the finding and gained none.
 */
export type RepairProof =
  { readonly by: 'ids'; readonly removesLeadingTokens: number } | { readonly by: 'rereading' };
