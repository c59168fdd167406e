/**
 * Reads replies in OpenAI's two shapes, whole or streamed, as the engines write them: counts, finish reasons, tool
 * calls, whether there is an answer. Never keeps the answer itself.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import { readCounts, readProgress } from './engine-counts.ts';
import { ReplyChoices, type ChoiceDraft } from './reply-choices.ts';
import { createFedReplyReader, type PartMeaning, type ReplyDialect } from './reply-feed.ts';
import type { FinishReason, ReplyReader, ReplyReading } from './reply.ts';
import type { Json, JsonObject } from '../request/request.ts';

export interface OpenAiReplyOptions extends ReplyReading {
  readonly shape: 'chat' | 'completion';
}

export function createOpenAiReplyReader(options: OpenAiReplyOptions): ReplyReader {
  return createFedReplyReader(new OpenAiDialect(options), options);
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
};

class OpenAiDialect implements ReplyDialect {
  readonly choices: ReplyChoices;
  readonly doneMark = '[DONE]';
  readonly #shape: 'chat' | 'completion';
  /** Index of the choice that finished last: a usage chunk without choices belongs to it. */
  #finished = 0;

  constructor(options: OpenAiReplyOptions) {
    this.#shape = options.shape;
    this.choices = new ReplyChoices(options);
  }

  saidAll(): boolean {
    return this.choices.all.every((choice) => choice.finishReason !== undefined);
  }

  /** Each choice's last chunk carries its own counts, or the chunk without choices right after it does. */
  readEvent(event: JsonObject): PartMeaning {
    if (event['error'] !== undefined) return 'error';
    const drafts = this.#readChoices(event['choices'], 'delta');
    if (drafts === undefined) return 'other';
    for (const draft of drafts) notePromptIds(draft, event);
    const owners = drafts.length > 0 ? drafts : [this.choices.at(this.#finished)];
    const progress = readProgress(event);
    for (const owner of owners) owner.noteCounts(progress ?? readCounts(event));
    return progress === undefined && drafts.length > 0 ? 'generation' : 'other';
  }

  /** The counts are those of the first choice, also where there are several prompts: the others' stay unknown. */
  readWhole(reply: Json): PartMeaning {
    if (!isObject(reply)) return 'other';
    if (isObject(reply['error'])) return 'error';
    const drafts = this.#readChoices(reply['choices'], 'message');
    if (drafts === undefined || drafts.length === 0) return 'other';
    this.choices.at(0).noteCounts(readCounts(reply));
    for (const draft of drafts) notePromptIds(draft, reply);
    return 'generation';
  }

  readLastMembers(members: JsonObject): PartMeaning {
    const counts = readCounts(members);
    if (counts.promptTokens === undefined) return 'other';
    const first = this.choices.at(0);
    first.noteCounts(counts);
    // Not seen, but so large a reply has some, and nobody is accused of a missing one.
    first.hasAnswerText = true;
    return 'generation';
  }

  #readChoices(choices: Json | undefined, part: 'delta' | 'message'): ChoiceDraft[] | undefined {
    if (!isArray(choices)) return undefined;
    return choices.filter(isObject).map((choice, position) => {
      const draft = this.choices.at(choice['index'] ?? position);
      if (this.#shape === 'completion') draft.noteText(choice['text']);
      else if (isObject(choice[part])) noteMessage(draft, choice[part]);
      notePromptIds(draft, choice);
      const ids = choice['token_ids'];
      if (isArray(ids)) draft.noteIds(ids.filter((id) => typeof id === 'number'));
      const reason = choice['finish_reason'];
      if (typeof reason === 'string') {
        draft.finishReason = finishReasons[reason] ?? 'other';
        this.#finished = draft.index;
      }
      return draft;
    });
  }
}

/** vLLM tells them beside the choices of a chat, and in each choice of a text. */
function notePromptIds(draft: ChoiceDraft, { prompt_token_ids: ids }: JsonObject): void {
  if (isArray(ids)) draft.notePromptIds(ids.filter((id) => typeof id === 'number'));
}

/** A message, or the delta of one: `reasoning_content` in llama-server, `reasoning` in vLLM. */
function noteMessage(draft: ChoiceDraft, message: JsonObject): void {
  draft.noteText(message['content']);
  const reasoning = message['reasoning_content'] ?? message['reasoning'];
  if (typeof reasoning === 'string' && reasoning !== '') draft.hasReasoning = true;
  const calls = message['tool_calls'];
  if (!isArray(calls)) return;
  for (const [position, call] of calls.entries()) {
    if (!isObject(call) || !isObject(call['function'])) continue;
    const index = call['index'];
    const text = call['function']['arguments'];
    draft.noteToolArguments(
      typeof index === 'number' ? index : position,
      typeof text === 'string' ? text : '',
    );
  }
}
