/** The session view of one exchange: which earlier turn its prompt grew from. Data only; the search is in sessions/. */

/** A digest pair of one request part: by parsed value (key order ignored) and as sent. */
export interface PartDigest {
  readonly value: string;
  readonly bytes: string;
  /** Of a message with reasoning: by value without it. */
  readonly spoken?: string;
}

/** A text's lines as digests, with digests of the line after times or dates in it are masked out. Keeps no text. */
export interface LineDigests {
  readonly lines: readonly string[];
  /** Each line with its times of day masked; the same string as in `lines` where the line has none. */
  readonly timeMasked: readonly string[];
  /** Each line with its times and its dates masked; the same string as in `timeMasked` where it has no date. */
  readonly dateMasked: readonly string[];
  /** Indexes of lines that are a per-request attribution line. */
  readonly attributionLines: readonly number[];
  /** The smallest keyed hashes of the text's words, ascending: enough to estimate how many words two texts share. */
  readonly wordSketch: readonly number[];
}

/** Digests of everything in a request that can reach the prompt. */
export interface RequestDigest {
  /** All messages that are not system or developer, in order; of a raw prompt, its turns as its role markers cut them. */
  readonly messages: readonly PartDigest[];
  /** Roles beside `messages`, same order. */
  readonly roles: readonly string[];
  /** The system text(s), joined by a newline; absent if there are none. */
  readonly system?: LineDigests;
  /**
   * Of each message of instructions that stands behind a turn, in order, how many of `messages` stand before it; absent if
   * none does.
   */
  readonly later?: readonly number[];
  readonly tools: readonly PartDigest[];
  /** Everything else that a template can read: template arguments, reasoning effort, response format. */
  readonly options: string;
}

/** What a client sent where a repair changed the ids: `head`, and after it the turn's own ids from `from` on. */
export interface SentIds {
  readonly head: Uint32Array;
  readonly from: number;
}

/** One remembered turn: the ids that the engine was fed and the digests of the request that they come from. */
export interface Turn {
  readonly ids: Uint32Array;
  /** Ids generated after the prompt, where the reply carried them; else empty. */
  readonly generated: Uint32Array;
  /** Absent for a raw prompt in which no role marker shows where its turns are. */
  readonly digest?: RequestDigest;
  /** Length in tokens of the generation prompt and think tail at the end of `ids`. */
  readonly tail: { readonly generationPrompt: number; readonly think: number };
  /**
   * Which of the digest's messages have reasoning that the prompt did not hold; absent where the prompt's text was not
   * known.
   */
  readonly lostReasoning?: readonly number[];
  /** True if the request had its prompt cut: the ids are not where its conversation begins, or not where it ends. */
  readonly cut?: true;
  /** The order in which the requests arrived at the store; a turn never replaces a later one. */
  readonly sequence: number;
  /** The attribution line that the engine was fed, as written in the body; absent if there was none. Never leaves. */
  readonly attributionLine?: string;
  /** Absent where the engine was fed what the client sent. */
  readonly sent?: SentIds;
  /** Digest of what keeps the engine's cache of this prompt apart (`cache_salt`); absent where nothing does. */
  readonly salt?: string;
  /** True if it goes on from a turn under another salt, which was not its ancestor for want of proof. */
  readonly leftSalt?: true;
}

/**
 * Where the name of a session came from. `header` is our own; one coding agent says which of its sessions a request
 * belongs to in a header of its own or, as older versions do, in the body's metadata.
 */
export const sessionKeySources = [
  'header',
  'claude-code-header',
  'claude-code-metadata',
  'prompt-cache-key',
] as const;
export type SessionKeySource = (typeof sessionKeySources)[number];

export interface SessionMatch {
  /** Keyed pseudonym of the session; safe to log. */
  readonly session: string;
  /** `ancestor` also where there is none yet: the request then starts a session of its own. */
  readonly keySource: SessionKeySource | 'ancestor';
  /** Becomes the turn's own when it is remembered. */
  readonly sequence: number;
  /** Absent for a session's first turn or a new head. */
  readonly ancestor?: Turn;
  /** Leading messages in common with the ancestor. */
  readonly commonMessages: number;
  /** Ids in common with the ancestor's prompt (and generated ids, where known). */
  readonly commonTokens: number;
  readonly digest?: RequestDigest;
  /** True if the engine keeps this prompt's cache apart from the ancestor's: then no ids are common, whatever they are. */
  readonly saltChanged?: true;
  /** As in the turn. */
  readonly leftSalt?: true;
  /** True if the client left the ancestor's newest message, or more, behind on purpose: a branch, not a break. */
  readonly branches: boolean;
}
