/** The session view of one exchange: which earlier turn its prompt grew from. Data only; the search is in sessions/. */

/** A digest pair of one request part: by parsed value (key order ignored) and as sent. */
export interface PartDigest {
  readonly value: string;
  readonly bytes: string;
}

/** A text's lines as digests, with digests of the line after times or dates in it are masked out. Keeps no text. */
export interface LineDigests {
  readonly lines: readonly string[];
  readonly timeMasked: readonly string[];
  readonly dateMasked: readonly string[];
  /** Indexes of lines that are a per-request attribution line. */
  readonly attributionLines: readonly number[];
}

/** Digests of everything in a request that can reach the prompt. */
export interface RequestDigest {
  /** All messages that are not system or developer, in order. */
  readonly messages: readonly PartDigest[];
  /** Roles beside `messages`, same order. */
  readonly roles: readonly string[];
  /** The system text(s), joined by a newline; absent if there are none. */
  readonly system?: LineDigests;
  readonly tools: readonly PartDigest[];
  /** Everything else that a template can read: template arguments, reasoning effort, response format. */
  readonly options: string;
}

/** One remembered turn: the ids that the engine was fed and the digests of what the client sent. */
export interface Turn {
  readonly ids: Uint32Array;
  /** Ids generated after the prompt, where the reply carried them; else empty. */
  readonly generated: Uint32Array;
  readonly digest?: RequestDigest;
  /** Segment keys of a raw prompt; [] for chat. */
  readonly segmentKeys: readonly string[];
  /** Length in tokens of the generation prompt and think tail at the end of `ids`. */
  readonly tail: { readonly generationPrompt: number; readonly think: number };
  readonly sequence: number;
}

export interface SessionMatch {
  /** Keyed pseudonym of the session; safe to log. */
  readonly session: string;
  readonly keySource: 'header' | 'prompt-cache-key' | 'ancestor';
  /** Absent for a session's first turn or a new head. */
  readonly ancestor?: Turn;
  /** Leading messages in common with the ancestor. */
  readonly commonMessages: number;
  /** Ids in common with the ancestor's prompt (and generated ids, where known). */
  readonly commonTokens: number;
  readonly digest?: RequestDigest;
  /** True if the client replaced the ancestor's newest message and goes on from there: a branch, not a break. */
  readonly branches: boolean;
}
