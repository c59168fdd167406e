/** The detector contract. A detector is pure: no clock, no log, no I/O, no other detector; it reports and never decides. */
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding, FindingKind, Severity } from '../exchange/finding.ts';

/**
 * The input that must be known before a detector is asked; where it is unknown the runner skips it with the reason.
 * `facts` are those of the model, without any prompt; `answer` is a reply or the engine's error in its place.
 */
export type Need = 'facts' | 'head' | 'rendered' | 'ids' | 'session' | 'reply' | 'answer';

export interface Detector {
  readonly kind: FindingKind;
  /** One sentence; equals the doc page's first sentence. */
  readonly summary: string;
  readonly stage: 'request' | 'reply';
  readonly need: Need;
  /** The highest severity it reports; pinned by a test. */
  readonly severity: Severity;
  /** True if some of its findings carry an exact repair. */
  readonly repairs: boolean;
  detect(exchange: Exchange): readonly Finding[];
}
