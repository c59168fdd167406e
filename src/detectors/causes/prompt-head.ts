/** Where the turns of a raw prompt stand, or would stand, among its ids. */
import type { Exchange } from '../../exchange/exchange.ts';
import type { Finding } from '../../exchange/finding.ts';
import type { TokenRead } from '../../exchange/token-read.ts';
import { markerTokens, tokenRange } from './content-place.ts';

/** As many as the opening of a turn takes, BOS before it included. */
const headTokens = 4;
/** A marker that is no token of the vocabulary comes to about as many. */
const mostMarkerTokens = 8;

/** The ids at the prompt's head; nothing where none of them is known. */
export function promptHead({ heads, prompts }: Exchange, promptIndex: number): Pick<Finding, 'tokens'> {
  const read = [prompts[promptIndex], heads[promptIndex]].find((one) => one?.known === true);
  const known = read?.known === true ? read.ids.length : 0;
  return known === 0 ? {} : { tokens: { start: 0, end: Math.min(known, headTokens) } };
}

/**
 * The ids from one marker's text to another's, both included; where they are no tokens, and the first begins a segment,
 * what its own text comes to.
 * @param first UTF-16 offset in the rendered text
 */
export function textTokens(
  read: TokenRead | undefined,
  first: number,
  last: number,
): Pick<Finding, 'tokens'> {
  if (read?.known !== true) return {};
  const begins = (offset: number): boolean =>
    read.segments?.some(({ textStart }) => textStart === offset) === true;
  const isToken = first !== last && begins(last);
  const tokens = isToken
    ? markerTokens(read, first, last)
    : tokenRange(read, { start: first, end: last + 1 });
  if (tokens === undefined) return {};
  if (isToken || !begins(first)) return { tokens };
  return { tokens: { ...tokens, end: Math.min(tokens.end, tokens.start + mostMarkerTokens) } };
}
