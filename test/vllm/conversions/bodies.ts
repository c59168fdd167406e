// The bodies of `/v1/messages` and `/v1/responses` whose conversions are compared with a real vLLM's, and recorded from it.
import {
  exactMessagesBody,
  messagesBodies,
  refusedMessages,
  refusedResponses,
  responsesBodies,
} from '../../support/dialect-bodies.ts';
import { ownMessagesBodies, ownResponsesBodies, unfollowedMessages } from '../own-bodies.ts';

export interface ConversionCase {
  readonly kind: 'messages' | 'responses';
  readonly name: string;
  /** As it is sent. */
  readonly body: string;
}

const short = { messages: { max_tokens: 2, model: 'qwen3' }, responses: { max_output_tokens: 2 } };

/** It refuses a budget for thinking that is not less than the limit. */
const shared = Object.entries(messagesBodies).filter(([name]) => name !== 'thinking on');

/** Those that the adapter follows, or the engine refuses. */
export const followed: readonly ConversionCase[] = [
  ...cases('messages', { ...Object.fromEntries(shared), ...refusedMessages, ...ownMessagesBodies }),
  ...cases('responses', { ...responsesBodies, ...refusedResponses, ...ownResponsesBodies }),
  {
    kind: 'messages',
    name: 'numbers and keys as they were written',
    body: exactMessagesBody.replace('{', '{"model":"qwen3",'),
  },
];

/** Those that the engine takes and the adapter does not convert. */
export const unfollowed: readonly ConversionCase[] = cases('messages', unfollowedMessages);

function cases(kind: ConversionCase['kind'], bodies: Readonly<Record<string, object>>): ConversionCase[] {
  return Object.entries(bodies).map(([name, body]) => ({
    kind,
    name,
    body: JSON.stringify({ ...short[kind], ...body }),
  }));
}
