/** Reasoning that the client sent and the rendered prompt does not hold. Pure. */
import { lostParts } from './lost-parts.ts';
import type { TemplateReading } from '../model-facts.ts';
import { isReasoning } from './prompt-parts.ts';
import type { ChatRequest, JsonPath } from '../request/request.ts';
import { instructs } from '../request/system-text.ts';

export interface LostReasoning {
  /** Index of its message among all that are no instructions, as digests have them. */
  readonly turn: number;
  /** Index of its message. */
  readonly message: number;
  readonly path: JsonPath;
  /** True if a question of the user's follows it. */
  readonly isEarlier: boolean;
}

export function lostReasoning(
  request: ChatRequest,
  rendered: string,
  reading?: TemplateReading,
): readonly LostReasoning[] {
  const { messages } = request;
  const lost = lostParts(request, rendered, reading).texts.filter(({ sort }) => isReasoning(sort));
  if (lost.length === 0) return [];
  const lastQuestion = messages.findLastIndex(({ role }) => role === 'user');
  let turns = 0;
  const turnOf = messages.map((message) => (instructs(message) ? turns : turns++));
  return lost.map(({ message, path }) => ({
    turn: turnOf[message] ?? 0,
    message,
    path,
    isEarlier: message < lastQuestion,
  }));
}
