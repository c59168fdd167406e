/** Closed label sets that no noun owns. A label value outside its set must not compile: open sets make open series. */
import { changingFacts } from '../exchange/engine-event.ts';
import type { BreakCause, Culprit, FindingKind, Severity } from '../exchange/finding.ts';
import { routeKinds } from '../exchange/request/route.ts';
import { sessionKeySources } from '../exchange/session-match.ts';

/** Routes that make exchanges: everything but `pass`. */
export const generationRoutes = routeKinds.filter((kind) => kind !== 'pass');

export const inspectionResults = ['ok', 'late', 'unknown'] as const;

/** `absent`: nothing could be compared; `partial`: what could be compared agreed, but some prompts could not. */
export const countCheckResults = ['match', 'mismatch', 'absent', 'partial'] as const;
export type CountCheckResult = (typeof countCheckResults)[number];

/** `whole` is the time from the body's last byte to the decision; it is not the sum of the others. */
export const inspectionStages = ['read', 'ask', 'session', 'detect', 'decide', 'whole'] as const;
export type InspectionStage = (typeof inspectionStages)[number];

/** Where tokens came from: kept segments, the engine, or the sampled window that checks the kept ones. */
export const tokenSources = ['cache', 'engine', 'check'] as const;
export type TokenSource = (typeof tokenSources)[number];

/** How an exchange found its session; `new`: it matched none. */
export const lookupSources = [...sessionKeySources, 'ancestor', 'new'] as const;
export type LookupSource = (typeof lookupSources)[number];

/** Why remembered turns were dropped: the bound in bytes, the age, or a newer head in a full session. */
export const evictionReasons = ['bytes', 'age', 'heads'] as const;
export type EvictionReason = (typeof evictionReasons)[number];

export const factNames = [...changingFacts, 'restart'] as const;
export type FactName = (typeof factNames)[number];

/** The severities that each kind can have without the operator's doing; their series start at 0. */
export const kindSeverities: Readonly<Record<FindingKind, readonly Severity[]>> = {
  'content-lost': ['info', 'error'],
  'context-overflow': ['warning', 'error'],
  'control-token-in-content': ['info', 'error'],
  'count-mismatch': ['warning'],
  'double-bos': ['error'],
  'foreign-template': ['error'],
  'missing-bos': ['error'],
  'missing-generation-prompt': ['warning'],
  'nested-template': ['error'],
  'output-truncated': ['info', 'warning', 'error'],
  'parameter-ignored': ['info', 'warning'],
  'prefix-break': ['info', 'warning'],
  'prompt-truncated': ['error'],
  'raw-prompt': ['info', 'warning'],
  'runaway-reply': ['info', 'warning'],
  'stringified-prompt': ['warning'],
  'template-drift': ['warning'],
  'template-missing': ['warning', 'error'],
  'tools-dropped': ['info', 'error'],
  'trailing-assistant': ['info', 'warning'],
  'unwanted-bos': ['info', 'warning'],
};

/** The culprits that each cause can have; their series start at 0. */
export const causeCulprits: Readonly<Record<BreakCause, readonly Culprit[]>> = {
  'attribution-line': ['client'],
  'empty-think-tail': ['template'],
  'history-edited': ['client'],
  'history-truncated': ['client'],
  'reasoning-dropped': ['template'],
  retokenised: ['template'],
  'salt-changed': ['client'],
  'tools-changed': ['client'],
  'tools-reordered': ['client'],
  unknown: ['client', 'template'],
  'volatile-date': ['client'],
  'volatile-text': ['client'],
  'volatile-time': ['client'],
};
