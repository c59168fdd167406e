/**
 * Whether reasoning was left out of a prompt, as most templates do once the user asks again. Where its text is that of the
 * turns' frame, or ends as the answer behind it does, the frame that is there must not be taken for it.
 */
import type { Exchange } from '../../exchange/exchange.ts';
import { isReasoningMember } from '../../exchange/written/prompt-parts.ts';
import type { ContentText } from './content-texts.ts';

/** Known only of templates that were seen to leave it out. */
export function isUnwrittenReasoning({ request, facts }: Exchange, { path, message }: ContentText): boolean {
  // In other dialects a result of a tool may be a message of the user's, behind which reasoning is written.
  if (request?.kind !== 'chat' || request.dialect !== 'openai' || message === undefined) return false;
  if (!isReasoningMember(String(path.at(-1)))) return false;
  const isEarlier = message < request.messages.findLastIndex(({ role }) => role === 'user');
  // By an argument a template may keep what it leaves out otherwise.
  const isAsUsual = (request.json['chat_template_kwargs'] ?? null) === null;
  return isEarlier && isAsUsual && facts?.reading?.dropped.includes('reasoning') === true;
}
