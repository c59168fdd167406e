/** What each detector's findings allow the policy to do. A kind that is not listed can only be reported. */
import type { Action } from '../exchange/exchange.ts';
import type { FindingKind } from '../exchange/finding.ts';

const beyondPass: Readonly<Partial<Record<FindingKind, readonly Action[]>>> = {
  'control-token-in-content': ['rewrite', 'reject'],
  'double-bos': ['rewrite', 'reject'],
  'foreign-template': ['reject'],
  'missing-bos': ['reject'],
  'missing-generation-prompt': ['reject'],
  'nested-template': ['reject'],
  'raw-prompt': ['reject'],
  'stringified-prompt': ['reject'],
  'trailing-assistant': ['rewrite'],
};

/** The actions that `detectors.<kind>.action` accepts, `pass` first. `rewrite` stands only where a repair is exact. */
export function actionsFor(kind: FindingKind): readonly Action[] {
  return ['pass', ...(beyondPass[kind] ?? [])];
}

/** What strict mode does where `detectors.<kind>.action` is not set; every other kind passes. */
export const strictActions: Readonly<Partial<Record<FindingKind, Action>>> = { 'double-bos': 'reject' };
