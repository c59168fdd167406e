/**
 * Which turn under another `cache_salt` a prompt goes on from. The engine keeps the two apart, and so do tenants mean it: one
 * change of salts may be a conversation that was handed on, and proves nothing. Pure.
 */
import type { Turn } from '../exchange/session-match.ts';
import { findAncestor, type Ancestor, type Descendant } from './ancestor.ts';

export interface LeftSalt<Candidate> extends Ancestor<Candidate> {
  /** True if the turn itself had left another salt, and an answer is common: then each turn has a salt of its own. */
  readonly isProven: boolean;
}

/** Undefined if it goes on from none. @param candidates turns under any salt */
export function findLeftSalt<Candidate extends { readonly turn: Turn }>(
  prompt: Descendant,
  salt: string,
  candidates: readonly Candidate[],
): LeftSalt<Candidate> | undefined {
  const { digest } = prompt;
  const found = findAncestor(
    prompt,
    candidates.filter(({ turn }) => turn.salt !== salt && turn.digest !== undefined),
  );
  if (digest === undefined || found === undefined || found.branches) return undefined;
  const { turn } = found.candidate;
  if (found.commonMessages !== turn.digest?.messages.length) return undefined;
  const isAnswered = digest.roles.slice(0, found.commonMessages).includes('assistant');
  return { ...found, isProven: turn.leftSalt === true && isAnswered };
}
