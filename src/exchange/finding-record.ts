/**
 * A finding as it leaves the process: logs, the findings API, the inspector page. Holds no prompt text and no ids of
 * it, but for control tokens, unless the operator has it shown.
 */
import type { Action, Exchange } from './exchange.ts';
import type { Finding } from './finding.ts';
import type { RouteKind } from './request/route.ts';

export const pieceClasses = [
  'control',
  'text',
  'whitespace',
  'digits',
  'punctuation',
  'media',
  'unknown',
] as const;
/** What sort of token a piece is: enough to read a window by, not enough to read the prompt. */
export type PieceClass = (typeof pieceClasses)[number];

export interface MaskedPiece {
  /** Index into the prompt's ids. */
  readonly position: number;
  readonly class: PieceClass;
  /** A control token's own text; of ordinary pieces only with `privacy.showText`. */
  readonly text?: string;
  /** The token's id in the vocabulary: where its text is told, no more is told by it. */
  readonly tokenId?: number;
  /** Keyed pseudonym of the token id: equal ids have equal pseudonyms, nothing else can be read from it. */
  readonly id?: string;
}

/** The tokens around a finding's place, in order. */
export interface MaskedWindow {
  /** Position of the first piece. */
  readonly start: number;
  readonly pieces: readonly MaskedPiece[];
}

/** What of a finding may leave the process as it is. */
type TellableFinding = Pick<
  Finding,
  | 'kind'
  | 'cause'
  | 'severity'
  | 'culprit'
  | 'promptIndex'
  | 'tokens'
  | 'lostTokens'
  | 'savedTokens'
  | 'field'
  | 'characters'
  | 'message'
  | 'advice'
>;

export interface FindingRecord extends TellableFinding {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly requestId: string;
  readonly traceId?: string;
  readonly model: string;
  readonly route: RouteKind;
  /** The operator's name for the client, else its keyed pseudonym. */
  readonly client: string;
  /** Keyed pseudonym; absent where the request belongs to no session. */
  readonly session?: string;
  readonly action: Action;
  readonly window?: MaskedWindow;
  /** The same place in the turn that the prompt was compared with; `prefix-break` only. */
  readonly ancestorWindow?: MaskedWindow;
  /** The same place in the reference; `template-drift` only. */
  readonly referenceWindow?: MaskedWindow;
}

/**
 * Copies what may leave the process out of an exchange and one of its findings; the repair's edits stay behind.
 * @param compared the same place in what the finding compares the prompt with
 */
export function recordFinding(
  exchange: Exchange,
  finding: Finding,
  at: Date,
  window?: MaskedWindow,
  compared?: MaskedWindow,
): FindingRecord {
  const { kind, severity, culprit, promptIndex, message, advice } = finding;
  return {
    time: at.toISOString(),
    requestId: exchange.id,
    ...(exchange.traceId !== undefined && { traceId: exchange.traceId }),
    model: exchange.modelName,
    route: exchange.route.kind,
    client: exchange.client.name ?? exchange.client.pseudonym,
    ...(exchange.session && { session: exchange.session.session }),
    kind,
    ...(finding.cause !== undefined && { cause: finding.cause }),
    severity,
    culprit,
    promptIndex,
    ...(finding.tokens && { tokens: finding.tokens }),
    ...(finding.lostTokens !== undefined && { lostTokens: finding.lostTokens }),
    ...(finding.savedTokens !== undefined && { savedTokens: finding.savedTokens }),
    ...(finding.field !== undefined && { field: finding.field }),
    ...(finding.characters && { characters: finding.characters }),
    message,
    advice,
    action: exchange.action,
    ...(window && { window }),
    ...(compared && { [kind === 'template-drift' ? 'referenceWindow' : 'ancestorWindow']: compared }),
  };
}
