/** Questions that outlive the exchange that asked them first. */
import type { AskContext } from '../engine.ts';

const neverAborted = new AbortController().signal;

/** The same credentials, not tied to one exchange's end: others wait for the answer too, or it is asked for nobody. */
export function untied(context: AskContext): AskContext {
  return { ...context, signal: neverAborted };
}
