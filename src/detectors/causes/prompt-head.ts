/** Where the first turn of a raw prompt stands, or would stand, among its ids. */
import type { Exchange } from '../../exchange/exchange.ts';
import type { Finding } from '../../exchange/finding.ts';

/** As many as the opening of a turn takes, BOS before it included. */
const headTokens = 4;

/** The ids at the prompt's head; nothing where none of them is known. */
export function promptHead({ heads, prompts }: Exchange, promptIndex: number): Pick<Finding, 'tokens'> {
  const read = [prompts[promptIndex], heads[promptIndex]].find((one) => one?.known === true);
  const known = read?.known === true ? read.ids.length : 0;
  return known === 0 ? {} : { tokens: { start: 0, end: Math.min(known, headTokens) } };
}
