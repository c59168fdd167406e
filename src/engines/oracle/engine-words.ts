/**
 * Why an engine refuses a question, in its own words: for the people who asked, never for a log. What engines quote of the
 * request behind them is cut off.
 */
import type { Json } from '../../exchange/request/request.ts';
import type { Untold } from '../../exchange/token-read.ts';
import { object } from './answer-values.ts';

/** Where the words end and what they are about begins, in the errors of llama-server and vLLM. */
const quotes = /: *[[{]|; (?:messages|tools) = |[;,] ?["']?(?:input|last read)["']?: /u;

/** How a template engine says where in the template it was; what the template itself says comes behind. */
const trace = /^\s*(?:[^\n]*\n)?-{6,}[\s\S]*\n *Error: /u;

const mostCharacters = 300;

/** One line; undefined if the answer says nothing. */
export function engineWords(answer: Json | undefined): string | undefined {
  const { error, detail, message } = object(answer);
  const said = [object(error)['message'], error, message, detail].find((one) => typeof one === 'string');
  const [words = ''] = (said ?? '').replace(trace, '').split(quotes);
  const line = words.replaceAll(/\s+/gu, ' ').trim();
  if (line === '') return undefined;
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line;
}

/** All that there was of an answer that told nothing, for people who asked. */
export function whatWasSaid({
  status,
  retryAfter,
  json,
}: Untold & { readonly json?: Json }): Omit<Untold, 'reason'> {
  const engineSays = engineWords(json);
  return {
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(engineSays !== undefined && { engineSays }),
  };
}
