/** The one noun that every part passes along: a request on a generation route with what became of it. */
import type { ModelFacts } from './model-facts.ts';
import type { HeadRead, TokenRead, UnknownReason } from './token-read.ts';
import type { Finding, FindingKind } from './finding.ts';
import type { Outcome, Reply } from './reply/reply.ts';
import type { Reference } from './reference.ts';
import type { GenerationRequest, JsonPath } from './request/request.ts';
import type { Route } from './request/route.ts';
import type { SentIds, SessionMatch } from './session-match.ts';

export type Action = 'pass' | 'rewrite' | 'reject';
export const actions = ['pass', 'rewrite', 'reject'] as const;

/** How far the inspection came: `late` means forwarded before it was finished. */
export type InspectionResult =
  | { readonly result: 'ok' }
  | { readonly result: 'late' }
  | { readonly result: 'unknown'; readonly reason: UnknownReason };

export interface ClientIdentity {
  /** Keyed hash of the credentials, else of the address. Never leaves the process except as this pseudonym. */
  readonly pseudonym: string;
  /** The operator's name for the client; absent unless configured. */
  readonly name?: string;
}

export interface SentRequest {
  /** Undefined where another repair has changed the ids since. */
  readonly ids: SentIds | undefined;
  /** The item that the repair took out of a list of the body; absent if it took none. */
  readonly removedItem?: JsonPath;
}

/** Filled stage by stage; a field is absent until its stage has run. */
export interface Exchange {
  readonly id: string;
  readonly receivedAtMs: number;
  readonly route: Route;
  readonly client: ClientIdentity;
  /** The trace id of the client's `traceparent`, 32 hex digits; absent if it sent none. */
  readonly traceId?: string;
  /** What the prompts should be; absent for all traffic: fixtures bring one along. */
  readonly reference?: Reference;
  /** Bounded label from the engine's own list; `unknown` until facts are known. */
  modelName: string;
  /** Stage read. Absent for bodies that are not inspected or not readable. */
  request?: GenerationRequest;
  /** Stage ask. */
  facts?: ModelFacts;
  /** What the operator's configuration says about the model; absent if nothing. */
  modelKind?: 'instruct' | 'base';
  /** One per prompt index; filled for blocking detectors first. */
  heads: readonly HeadRead[];
  /** One per prompt index. */
  prompts: readonly TokenRead[];
  /** Stage session; absent where no ids are known or the request has several prompts. */
  session?: SessionMatch;
  /** Stage decide: what the client sent before its attribution line was repaired; absent if it was not. */
  sent?: SentRequest;
  /** Lower bound of the prompt tokens that the engine's own rule lets it reuse; absent if not computed. */
  reusableTokens?: number;
  findings: Finding[];
  /** Detectors that could not be asked, and why. */
  skipped: { readonly kind: FindingKind; readonly reason: UnknownReason }[];
  inspection: InspectionResult;
  action: Action;
  /** Stage settle. */
  reply?: Reply;
  outcome?: Outcome;
}
