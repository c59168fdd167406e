/** The contract of a session store. Every method may answer later, so that a store outside the process fits too. */
import type { RequestDigest, SessionMatch, Turn } from '../exchange/session-match.ts';
import type { SessionKey } from './identity.ts';

/** What one prompt shows of itself when it looks for its session. */
export interface SessionQuery {
  /** The model's bounded name: conversations with different models share no cache. */
  readonly model: string;
  /** The client's pseudonym: one client's conversation is never another's ancestor. */
  readonly client: string;
  /** Absent if the client named no session. */
  readonly key?: SessionKey;
  /** Digest of what keeps the engine's cache of this prompt apart; absent where nothing does. */
  readonly salt?: string;
  readonly ids: Uint32Array;
  /** Absent where only the ids can tell: a raw prompt without role markers. */
  readonly digest?: RequestDigest;
}

/** One session, for the sessions API. Holds no text and no ids. */
export interface SessionSummary {
  readonly session: string;
  readonly client: string;
  readonly model: string;
  readonly keySource: SessionMatch['keySource'];
  readonly heads: number;
  /** Turns remembered since the session began, those that newer ones replaced included. */
  readonly turns: number;
  /** Prompt tokens of the newest turn. */
  readonly tokens: number;
  readonly bytes: number;
  /** Milliseconds since the newest turn was remembered. */
  readonly ageMs: number;
}

/** Why turns were forgotten: the bound in bytes, their age, or a newer head in a full session. */
export type EvictionReason = 'bytes' | 'age' | 'heads';

export interface SessionStore {
  /** The session that the prompt belongs to, with its ancestor if one is found. Remembers nothing. */
  lookup(query: SessionQuery): SessionMatch | Promise<SessionMatch>;
  /**
   * Keeps the turn of an earlier `lookup`, once the engine has the prompt in its cache. The turn takes its ancestor's
   * place if it goes on from it, else it becomes a head of its own; it never takes the place of a later turn.
   */
  remember(query: SessionQuery, match: SessionMatch, turn: Turn): void | Promise<void>;
  /** Newest first, at most `limit`. */
  list(limit: number): readonly SessionSummary[] | Promise<readonly SessionSummary[]>;
  /** Live sessions in this process. */
  readonly count: number;
  /** Bytes that they take, overhead included. */
  readonly bytes: number;
}
