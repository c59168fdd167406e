/**
 * Reads vLLM's replies: OpenAI's shapes, but for what their counts mean. `usage` is one for the whole reply: its prompt
 * tokens are summed over the prompts, its completion tokens over all choices (measured on 0.32.0).
 */
import { createOpenAiReplyReader } from '../../exchange/reply/openai-reply.ts';
import type { ChoiceReply, Reply, ReplyReader, ReplyReading } from '../../exchange/reply/reply.ts';
import { promptCount } from '../../exchange/request/prompt-count.ts';
import type { GenerationRequest } from '../../exchange/request/request.ts';

export function createVllmReplyReader(request: GenerationRequest, reading: ReplyReading): ReplyReader {
  const inner = createOpenAiReplyReader({ ...reading, shape: request.kind });
  const prompts = promptCount(request);
  return {
    start: (status, contentType, contentEncoding) => {
      inner.start(status, contentType, contentEncoding);
    },
    push: (chunk) => {
      inner.push(chunk);
    },
    end: (cut) => {
      const reply = inner.end(cut);
      return prompts * request.choices === 1 ? reply : withoutSums(reply, prompts);
    },
    get started() {
      return inner.started;
    },
  };
}

/** A sum is no choice's own count: what can't be told apart stays unknown. */
function withoutSums(reply: Reply, prompts: number): Reply {
  return {
    ...reply,
    choices: reply.choices.map(
      ({ promptTokens, cachedTokens, completionTokens: _sum, ...choice }): ChoiceReply => {
        if (prompts > 1) return choice;
        return {
          ...choice,
          ...(promptTokens === undefined ? {} : { promptTokens }),
          ...(cachedTokens === undefined ? {} : { cachedTokens }),
        };
      },
    ),
  };
}
