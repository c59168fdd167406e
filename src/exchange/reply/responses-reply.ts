/**
 * Reads replies in the shape of OpenAI's Responses, whole or streamed, as the engines write them: counts, status, tool
 * calls, whether there is an answer. Never keeps the answer itself.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import { count, readCounts } from './engine-counts.ts';
import { ReplyChoices, type ChoiceCounts, type ChoiceDraft } from './reply-choices.ts';
import { createFedReplyReader, type PartMeaning, type ReplyDialect } from './reply-feed.ts';
import type { ReplyReader, ReplyReading } from './reply.ts';
import type { Json, JsonObject } from '../request/request.ts';

export function createResponsesReplyReader(reading: ReplyReading): ReplyReader {
  return createFedReplyReader(new ResponsesDialect(reading), reading);
}

/** Events that end a stream; each carries the response with its status and usage. */
const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed']);

class ResponsesDialect implements ReplyDialect {
  readonly choices: ReplyChoices;
  readonly doneMark = '';
  /** Calls by the id of their item. */
  readonly #calls = new Map<string, number>();
  /** Text that has streamed comes whole once more at its end. */
  #textStreamed = false;

  constructor(reading: ReplyReading) {
    this.choices = new ReplyChoices(reading);
  }

  /** Its last event says that it is the last. */
  saidAll(): boolean {
    return false;
  }

  readEvent(event: JsonObject): PartMeaning {
    const type = typeof event['type'] === 'string' ? event['type'] : '';
    if (type === 'error' || isObject(event['error'])) return 'error';
    const { delta, item, response } = event;
    const draft = this.choices.at(0);
    if (lastEvents.has(type)) {
      if (isObject(response)) noteEnd(draft, response, event);
      return type === 'response.failed' ? 'error' : 'end';
    }
    switch (type) {
      case 'response.output_item.added':
      case 'response.output_item.done':
        if (isObject(item)) this.#noteItem(draft, item, type.endsWith('done'));
        return 'generation';
      case 'response.output_text.delta':
        this.#textStreamed = true;
        draft.noteText(delta);
        return 'generation';
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        draft.hasReasoning = true;
        return 'generation';
      case 'response.function_call_arguments.delta':
        if (typeof delta === 'string') this.#noteArguments(draft, event['item_id'], delta);
        return 'generation';
      default:
        return 'other';
    }
  }

  readWhole(reply: Json): PartMeaning {
    if (!isObject(reply)) return 'other';
    if (isObject(reply['error'])) return 'error';
    const { output } = reply;
    if (!isArray(output)) return 'other';
    const draft = this.choices.at(0);
    for (const item of output) {
      if (isObject(item)) this.#noteItem(draft, item, true);
    }
    noteEnd(draft, reply, reply);
    return 'generation';
  }

  readLastMembers(members: JsonObject): PartMeaning {
    const draft = this.choices.at(0);
    noteEnd(draft, members, members);
    if (!draft.hasPromptCount) return 'other';
    // Not seen, but so large a reply has some, and nobody is accused of a missing one.
    draft.hasAnswerText = true;
    return 'generation';
  }

  /** @param isWhole false for the beginning of an item, whose arguments are still to come */
  #noteItem(draft: ChoiceDraft, item: JsonObject, isWhole: boolean): void {
    const { type, id, content, arguments: given } = item;
    if (type === 'reasoning') draft.hasReasoning = true;
    if (type === 'message' && isArray(content) && !this.#textStreamed) {
      for (const part of content) if (isObject(part)) draft.noteText(part['text']);
    }
    // A call that has streamed comes whole once more at its end.
    if (type !== 'function_call' || !isWhole || this.#calls.has(nameOf(id))) return;
    this.#noteArguments(draft, id, typeof given === 'string' ? given : '');
  }

  #noteArguments(draft: ChoiceDraft, id: Json | undefined, text: string): void {
    const call = this.#calls.get(nameOf(id)) ?? this.#calls.size;
    // The draft keeps no more calls than these, whatever a stream names.
    if (call < mostCalls) this.#calls.set(nameOf(id), call);
    // A call without arguments may come with none.
    if (text === '') draft.noteUnseenArguments(call);
    else draft.noteToolArguments(call, text);
  }
}

function nameOf(id: Json | undefined): string {
  return typeof id === 'string' ? id : '';
}

const mostCalls = 1024;

/** `carrier` is the object that `timings` stand in: the event, beside the response. */
function noteEnd(draft: ChoiceDraft, response: JsonObject, carrier: JsonObject): void {
  draft.noteCounts(readCounts({ timings: carrier['timings'] ?? null }));
  draft.noteCounts(readUsage(response['usage']));
  const details = response['incomplete_details'];
  if (isObject(details)) draft.finishReason = details['reason'] === 'max_output_tokens' ? 'length' : 'other';
  else if (response['status'] === 'completed')
    draft.finishReason = draft.hasToolCalls ? 'tool-calls' : 'stop';
}

function readUsage(usage: Json | undefined): ChoiceCounts {
  if (!isObject(usage)) return {};
  const details = usage['input_tokens_details'];
  return {
    promptTokens: count(usage['input_tokens']),
    cachedTokens: isObject(details) ? count(details['cached_tokens']) : undefined,
    completionTokens: count(usage['output_tokens']),
  };
}
