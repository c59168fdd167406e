/**
 * The search for the turn that a prompt grew from. Compares digests and ids only. When in doubt it finds none: a wrong
 * ancestor accuses a client of breaks that never were.
 */
import type { RequestDigest, Turn } from '../exchange/session-match.ts';
import { commonPrefixLength } from '../tokens/common-prefix.ts';
import { sameButForClocks, wordSimilarity } from './line-digests.ts';

/** What is known of the prompt that looks for its ancestor. */
export interface Descendant {
  readonly ids: Uint32Array;
  /** Absent where only the ids can tell. */
  readonly digest?: RequestDigest;
  /** True if the client itself named the session. */
  readonly keyed: boolean;
}

export interface Ancestor<Candidate> {
  readonly candidate: Candidate;
  readonly commonMessages: number;
  readonly commonTokens: number;
  readonly branches: boolean;
}

interface Kin<Candidate> {
  readonly candidate: Candidate;
  readonly turn: Turn;
  readonly run: number;
  /** The prompt only goes on from the whole of this turn. */
  readonly extends: boolean;
}

/** Instructions that share fewer words than this are another agent's. */
const sameAgentSimilarity = 0.5;

/**
 * The best ancestor among the live heads of one client and model; undefined if none is one.
 * A turn that the prompt goes on from goes before any that it leaves behind; then one under the same instructions before
 * one under others, for people say the same things to different agents; then the longest common run of messages; then one
 * of which all but a single message is in the prompt, for others only begin alike; then the longest common prefix of ids.
 */
export function findAncestor<Candidate extends { readonly turn: Turn }>(
  prompt: Descendant,
  candidates: readonly Candidate[],
): Ancestor<Candidate> | undefined {
  const { digest } = prompt;
  if (digest === undefined) return findByIds(prompt, candidates);
  const kin = candidates.flatMap((candidate): Kin<Candidate>[] => {
    const { turn } = candidate;
    if (turn.digest === undefined) return [];
    const run = commonRun(turn.digest, digest);
    if (!digest.roles.slice(0, run).includes('user')) return [];
    if (!isSameAgent(turn.digest, digest, prompt.keyed)) return [];
    return [{ candidate, turn, run, extends: run === turn.digest.messages.length }];
  });
  const goesOn = kin.some((one) => one.extends);
  const near = goesOn ? kin.filter((one) => one.extends) : kin;
  const alike = near.filter(({ turn }) => turn.digest && sameInstructions(turn.digest, digest));
  const rivals = alike.length > 0 ? alike : near;
  const longest = Math.max(...rivals.map(({ run }) => run));
  const nearest = rivals.filter(({ run }) => run === longest);
  const after = valuesFrom(digest, longest);
  const edited = nearest.filter(
    ({ turn }) => turn.digest && differsInOne(valuesFrom(turn.digest, longest), after),
  );
  let best: Ancestor<Candidate> | undefined;
  for (const { candidate, turn, run } of edited.length > 0 ? edited : nearest) {
    if (turn.digest === undefined) continue;
    const commonTokens = commonPrefixLength(turn.ids, prompt.ids, turn.generated);
    if (best !== undefined && best.commonTokens >= commonTokens) continue;
    best = {
      candidate,
      commonMessages: run,
      commonTokens,
      branches: isBranch(turn.digest, digest, run, prompt.keyed),
    };
  }
  return best;
}

/**
 * Prompts without visible turns: the earlier one must be a whole prefix, or, in a session that the client named, be
 * shared by at least a half. Anything else (each key press of a code completion, say) begins anew.
 */
function findByIds<Candidate extends { readonly turn: Turn }>(
  { ids, keyed }: Descendant,
  candidates: readonly Candidate[],
): Ancestor<Candidate> | undefined {
  let best: Ancestor<Candidate> | undefined;
  for (const candidate of candidates) {
    const { turn } = candidate;
    if (turn.digest !== undefined || turn.ids.length === 0) continue;
    const commonTokens = commonPrefixLength(turn.ids, ids, turn.generated);
    const kept = commonTokens / turn.ids.length;
    if (kept < (keyed ? 0.5 : 1) || commonTokens <= (best?.commonTokens ?? 0)) continue;
    best = { candidate, commonMessages: 0, commonTokens, branches: ids.length <= turn.ids.length };
  }
  return best;
}

/** Leading messages that are the same in both. */
function commonRun(a: RequestDigest, b: RequestDigest): number {
  const end = Math.min(a.messages.length, b.messages.length);
  let run = 0;
  while (run < end && a.messages[run]?.value === b.messages[run]?.value) run += 1;
  return run;
}

/**
 * False for a side request that a client makes about a conversation: a title, a summary, a guard. It shows by
 * instructions of its own, or by leaving all tools out. Equal tools show the same agent whatever its instructions; in a
 * session that the client named, only instructions and tools together make another agent.
 */
function isSameAgent(a: RequestDigest, b: RequestDigest, keyed: boolean): boolean {
  const sameInstructions = haveSimilarInstructions(a, b);
  const tools = sameTools(a, b);
  if (keyed) return sameInstructions || tools;
  if ((a.tools.length === 0) !== (b.tools.length === 0)) return false;
  return sameInstructions || (tools && a.tools.length > 0);
}

/** But for clocks and dates, which move on within one conversation. */
function sameInstructions({ system: a }: RequestDigest, { system: b }: RequestDigest): boolean {
  return a === undefined || b === undefined ? a === b : sameButForClocks(a, b);
}

function haveSimilarInstructions({ system: a }: RequestDigest, { system: b }: RequestDigest): boolean {
  if (a === undefined || b === undefined) return a === b;
  return wordSimilarity(a, b) >= sameAgentSimilarity;
}

/** True if both send the same tools, in whichever order. */
export function sameTools(a: RequestDigest, b: RequestDigest): boolean {
  const sorted = ({ tools }: RequestDigest): string =>
    tools
      .map(({ value }) => value)
      .toSorted()
      .join();
  return sorted(a) === sorted(b);
}

/**
 * True if the client went back on purpose: it sends the conversation again (as long, or shorter), or goes another way
 * from some message on. False if it goes on, also with a message before that changed meanwhile: then what came after
 * the change is still there, or the newest message was changed and answered.
 */
function isBranch(ancestor: RequestDigest, prompt: RequestDigest, run: number, keyed: boolean): boolean {
  const earlier = ancestor.messages.length;
  const length = prompt.messages.length;
  if (run === earlier) return length === earlier;
  if (run === length) return true;
  if (run === earlier - 1) return length <= earlier;
  return !survives(ancestor, prompt, run, keyed);
}

/**
 * True if messages of the ancestor from after the change are in the prompt: the newest one with something after it or, in
 * a session that the client named, an assistant's or tool's. Elsewhere the prompt must be longer too: requests with
 * examples before the question begin alike, share short answers, and ask what was an example before, all at one length.
 * A lone short user message ("thanks") proves nothing anywhere.
 */
function survives(ancestor: RequestDigest, prompt: RequestDigest, run: number, keyed: boolean): boolean {
  if (!keyed && prompt.messages.length <= ancestor.messages.length) return false;
  const before = valuesFrom(ancestor, run);
  const after = valuesFrom(prompt, run);
  const places = placesOfSingles(before, after);
  const isTelling = (value: string, index: number): boolean =>
    ancestor.roles[run + index] !== 'user' && places.has(value);
  return (keyed && before.some(isTelling)) || newestSurvives(before, after, places);
}

/**
 * True if the newest message is there with something after it. Of what is said more than once ("continue", a result
 * "ok") one looks like the other: then all from the last message that is there once must follow one another as they did,
 * or nothing but the changed message may differ.
 */
function newestSurvives(
  before: readonly string[],
  after: readonly string[],
  places: ReadonlyMap<string, number>,
): boolean {
  const single = before.findLastIndex((value) => places.has(value));
  const place = places.get(before[single] ?? '');
  const following = before.slice(single);
  const follows =
    place !== undefined &&
    place + following.length < after.length &&
    following.every((value, index) => after[place + index] === value);
  return follows || differsInOne(before, after);
}

/** True if all but the first is there at its old place, with something after it: of the newest message alone nothing is. */
function differsInOne(before: readonly string[], after: readonly string[]): boolean {
  const isWithin = before.length > 1 && before.length < after.length;
  return isWithin && before.every((value, index) => index === 0 || after[index] === value);
}

function valuesFrom({ messages }: RequestDigest, start: number): string[] {
  return messages.slice(start).map(({ value }) => value);
}

/** Where messages are in `after` that are once in it and once in `before`. */
function placesOfSingles(before: readonly string[], after: readonly string[]): ReadonlyMap<string, number> {
  const earlier = singlesOf(before);
  return new Map([...singlesOf(after)].filter(([value]) => earlier.has(value)));
}

function singlesOf(values: readonly string[]): ReadonlyMap<string, number> {
  const singles = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (singles.has(value)) repeated.add(value);
    singles.set(value, index);
  }
  for (const value of repeated) singles.delete(value);
  return singles;
}
