/** How many leading ids two prompts share: the one number that prefix reuse rests on. Allocates nothing. */

/**
 * Length of the longest common prefix of `b` and of `a` followed by `extra` (the ids generated after `a`, where they
 * are known). At most `b.length`; it exceeds `a.length` only if all of `a` is shared.
 */
export function commonPrefixLength(a: Uint32Array, b: Uint32Array, extra?: Uint32Array): number {
  const shared = commonRun(a, b, 0);
  if (extra === undefined || shared < a.length) return shared;
  return a.length + commonRun(extra, b, a.length);
}

/** Length of the longest common suffix, at most `most`: the ids in front of it are compared otherwise. */
export function commonSuffixLength(a: Uint32Array, b: Uint32Array, most: number): number {
  const end = Math.min(a.length, b.length, most);
  let length = 0;
  while (length < end && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1;
  return length;
}

/** How many ids of `a` from its start equal those of `b` from `offset`. */
function commonRun(a: Uint32Array, b: Uint32Array, offset: number): number {
  const end = Math.min(a.length, b.length - offset);
  let index = 0;
  while (index < end && a[index] === b[offset + index]) index += 1;
  return index;
}

/**
 * Lower bound of the prompt ids that an engine can reuse: the shared ones, but never all, since the last id is always
 * evaluated again to predict what comes after it.
 * @param blockTokens only whole blocks of this many ids are kept; 0 if nothing is
 */
export function reusableTokens(commonTokens: number, promptTokens: number, blockTokens = 1): number {
  const most = Math.max(0, Math.min(commonTokens, promptTokens - 1));
  return blockTokens > 0 ? most - (most % blockTokens) : 0;
}
