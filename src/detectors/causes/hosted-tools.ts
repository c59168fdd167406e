/**
 * Tools of the Responses route that have no name: the hosted service runs them, or the client does by a protocol of their own.
 * An engine that gives its template functions only leaves them out without a word.
 */
import type { Finding } from '../../exchange/finding.ts';
import { isObject } from '../../exchange/json/body-reader.ts';
import { formatPath } from '../../exchange/json/json-path.ts';
import type { ChatRequest } from '../../exchange/request/request.ts';

/** Those that the client runs itself: without one it waits for calls that never come. Source: OpenAI's API reference. */
const runByClient: ReadonlySet<string> = new Set(['apply_patch', 'computer', 'local_shell', 'shell']);

/** @param rendered a prompt that says the type's name anywhere may hold the tool */
export function hostedTools(request: ChatRequest, rendered: string): Finding[] {
  if (request.dialect !== 'responses') return [];
  return request.tools.flatMap((tool, index): Finding[] => {
    const type = isObject(tool) && tool['name'] === undefined ? tool['type'] : undefined;
    if (typeof type !== 'string' || type === 'function' || type === '' || rendered.includes(type)) return [];
    const isError = runByClient.has(type);
    const field = formatPath(['tools', index]);
    return [
      {
        kind: 'tools-dropped',
        cause: 'hosted-tool',
        ...(!isError && { fact: `hosted:${type}` }),
        severity: isError ? 'error' : 'info',
        culprit: 'engine',
        promptIndex: 0,
        field,
        message: `The prompt does not tell of ${field} (type ${type}): the engine gives the template functions only.`,
        advice: isError
          ? 'Have the client offer it as a function; most can be told to.'
          : 'Switch it off in the client, or have it offer a function that does the same: nobody here runs it.',
      },
    ];
  });
}
