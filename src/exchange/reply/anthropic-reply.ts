/**
 * Reads replies in the shape of Anthropic's Messages, whole or streamed, as the engines write them: counts, stop reason,
 * tool calls, whether there is an answer. Never keeps the answer itself.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import { count } from './engine-counts.ts';
import { ReplyChoices, type ChoiceCounts, type ChoiceDraft } from './reply-choices.ts';
import { createFedReplyReader, type PartMeaning, type ReplyDialect } from './reply-feed.ts';
import type { FinishReason, ReplyReader, ReplyReading } from './reply.ts';
import type { Json, JsonObject } from '../request/request.ts';

export function createAnthropicReplyReader(reading: ReplyReading): ReplyReader {
  return createFedReplyReader(new AnthropicDialect(reading), reading);
}

const stopReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool-calls',
};

class AnthropicDialect implements ReplyDialect {
  readonly choices: ReplyChoices;
  readonly doneMark = '';
  /** Indexes of begun calls of which no arguments have come yet. */
  readonly #bareCalls = new Set<number>();

  constructor(reading: ReplyReading) {
    this.choices = new ReplyChoices(reading);
  }

  /** Its last event says that it is the last. */
  saidAll(): boolean {
    return false;
  }

  readEvent(event: JsonObject): PartMeaning {
    if (event['error'] !== undefined) return 'error';
    const draft = this.choices.at(0);
    switch (event['type']) {
      case 'message_start':
        if (isObject(event['message'])) draft.noteCounts(readUsage(event['message']['usage']));
        return 'other';
      case 'content_block_start':
        this.#noteStart(draft, event);
        return 'generation';
      case 'content_block_delta':
        this.#noteDelta(draft, event);
        return 'generation';
      case 'content_block_stop':
        // A call without arguments comes with none.
        if (this.#bareCalls.delete(indexOf(event))) draft.noteUnseenArguments(indexOf(event));
        return 'generation';
      case 'message_delta':
        draft.noteCounts(readUsage(event['usage']));
        if (isObject(event['delta'])) noteStopReason(draft, event['delta']);
        return 'generation';
      case 'message_stop':
        return 'end';
      default:
        return 'other';
    }
  }

  readWhole(reply: Json): PartMeaning {
    if (!isObject(reply)) return 'other';
    if (isObject(reply['error'])) return 'error';
    const content = reply['content'];
    if (!isArray(content)) return 'other';
    const draft = this.choices.at(0);
    noteStopReason(draft, reply);
    draft.noteCounts(readUsage(reply['usage']));
    for (const [index, block] of content.entries()) {
      noteBlock(draft, block);
      if (!isObject(block) || block['type'] !== 'tool_use') continue;
      // In one piece a call that a limit cut comes with arguments that the engine has made up: {}.
      const mayBeCut = draft.finishReason === 'length' && index === content.length - 1;
      if (mayBeCut) draft.noteUnseenArguments(index);
      else draft.noteToolArguments(index, JSON.stringify(block['input'] ?? null));
    }
    return 'generation';
  }

  readLastMembers(members: JsonObject): PartMeaning {
    const counts = readUsage(members['usage']);
    if (counts.promptTokens === undefined) return 'other';
    const draft = this.choices.at(0);
    draft.noteCounts(counts);
    noteStopReason(draft, members);
    // Not seen, but so large a reply has some, and nobody is accused of a missing one.
    draft.hasAnswerText = true;
    return 'generation';
  }

  #noteStart(draft: ChoiceDraft, event: JsonObject): void {
    const block = event['content_block'];
    noteBlock(draft, block);
    const isCall = isObject(block) && block['type'] === 'tool_use';
    if (isCall && this.#bareCalls.size < mostCalls) this.#bareCalls.add(indexOf(event));
  }

  #noteDelta(draft: ChoiceDraft, event: JsonObject): void {
    const { delta } = event;
    if (!isObject(delta)) return;
    draft.noteText(delta['text']);
    const part = delta['partial_json'];
    if (typeof part !== 'string' || part === '') return;
    this.#bareCalls.delete(indexOf(event));
    draft.noteToolArguments(indexOf(event), part);
  }
}

const mostCalls = 1024;

/** `input_tokens` are those that were neither read from the cache nor written to it. */
function readUsage(usage: Json | undefined): ChoiceCounts {
  if (!isObject(usage)) return {};
  const evaluated = count(usage['input_tokens']);
  const cached = count(usage['cache_read_input_tokens']);
  const written = count(usage['cache_creation_input_tokens']) ?? 0;
  return {
    promptTokens: evaluated === undefined ? undefined : evaluated + (cached ?? 0) + written,
    cachedTokens: cached,
    completionTokens: count(usage['output_tokens']),
  };
}

function noteStopReason(draft: ChoiceDraft, { stop_reason: reason }: JsonObject): void {
  if (typeof reason === 'string') draft.finishReason = stopReasons[reason] ?? 'other';
}

/** A block as a whole, or the beginning of one. */
function noteBlock(draft: ChoiceDraft, block: Json | undefined): void {
  if (!isObject(block)) return;
  if (block['type'] === 'thinking' || block['type'] === 'redacted_thinking') draft.hasReasoning = true;
  draft.noteText(block['text']);
}

function indexOf({ index }: JsonObject): number {
  return typeof index === 'number' ? index : 0;
}
