/**
 * Which routes of an engine keep a coding agent's attribution line from the model: it is asked for the ids of one
 * conversation under two lines. Where they are the same, no change of the line can break a prefix.
 */
import type { ChatDialect, ChatRequest } from '../../exchange/request/request.ts';
import { readRequest } from '../../exchange/request/request-reader.ts';
import { attributionPrefix } from '../../exchange/request/system-text.ts';

import { isRefusal, OracleFailure } from '../oracle/oracle-failure.ts';

/** The ids of a conversation, as those of a client's are read. */
type IdsOf = (request: ChatRequest) => Promise<Uint32Array>;

const lines = ['cc_version=1.0.1; cc_entrypoint=cli; cch=11111;', 'cc_version=2.0.2; cch=22222;'];

const instructions = 'Weirsystem';
const question = { role: 'user', content: 'Weirquestion' };

/** One such conversation as it is sent on each route: the line has a block of its own where there are blocks. */
const conversations = {
  chat: (line) => ({ messages: [{ role: 'system', content: `${line}\n${instructions}` }, question] }),
  messages: (line) => ({
    system: [line, instructions].map((text) => ({ type: 'text', text })),
    messages: [question],
    max_tokens: 1,
  }),
  responses: (line) => ({ instructions: `${line}\n${instructions}`, input: [question] }),
} as const satisfies Record<string, (line: string) => object>;

/** A route that can't be asked is not among them. */
export async function unreadAttribution(model: string, idsOf: IdsOf): Promise<ChatDialect[]> {
  const unread: ChatDialect[] = [];
  for (const kind of ['chat', 'messages', 'responses'] as const) {
    const asked = lines.map((line) => {
      const body = { model, ...conversations[kind](`${attributionPrefix} ${line}`) };
      const reading = readRequest(Buffer.from(JSON.stringify(body)), kind);
      return reading.readable && reading.request.kind === 'chat' ? reading.request : undefined;
    });
    const [first, second] = asked;
    if (first === undefined || second === undefined) continue;
    try {
      if (String(await idsOf(first)) === String(await idsOf(second))) unread.push(first.dialect);
    } catch (error) {
      if (!isRefusal(error) && !isUnconverted(error)) throw error;
    }
  }
  return unread;
}

/** The engine converts such a body in a way that can't be followed. */
function isUnconverted(error: unknown): boolean {
  return error instanceof OracleFailure && error.reason === 'engine-cannot' && error.status === undefined;
}
