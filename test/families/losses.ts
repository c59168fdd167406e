// What a template leaves out of a conversation, shown by its own renderings: another text in its place changes nothing.
import type { ChatBody } from './conversations.ts';

type Render = (body: object) => Promise<string | undefined>;
interface Message {
  readonly content?: unknown;
  readonly tool_calls?: readonly object[];
}

const otherCall = {
  id: 'callLisb1',
  type: 'function',
  function: { name: 'get_time', arguments: '{"city":"Porto"}' },
};

/** The kinds that are true of the conversation with this template. */
export async function lossesOf(render: Render, body: ChatBody): Promise<readonly string[]> {
  const rendered = await render(body);
  if (rendered === undefined) return [];
  const isSame = async (messages: readonly object[]): Promise<boolean> =>
    (await render({ ...body, messages })) === rendered;
  const kinds = new Set<string>();
  for (const [index, message] of (body.messages as readonly Message[]).entries()) {
    const { content, tool_calls: calls } = message;
    const hasText = typeof content === 'string' && content !== '';
    const others = [
      ...(hasText ? [{ ...message, content: 'Something else is said here.' }] : []),
      ...(calls === undefined ? [] : [{ ...message, tool_calls: [otherCall] }]),
    ];
    for (const other of others) {
      if (await isSame(body.messages.with(index, other))) kinds.add('content-lost');
    }
  }
  const { tools, ...withoutTools } = body;
  if (tools !== undefined && (await render(withoutTools)) === rendered) kinds.add('tools-dropped');
  return [...kinds];
}
