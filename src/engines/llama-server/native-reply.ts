/**
 * Reads replies of llama-server's native routes: one object per prompt and choice, the last event of each with
 * `stop: true`. Keeps generated ids, up to a bound, and no text.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import { count, readCounts, readProgress } from '../../exchange/reply/engine-counts.ts';
import { ReplyChoices } from '../../exchange/reply/reply-choices.ts';
import {
  createFedReplyReader,
  type PartMeaning,
  type ReplyDialect,
} from '../../exchange/reply/reply-feed.ts';
import type { FinishReason, ReplyReader, ReplyReading } from '../../exchange/reply/reply.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';

export function createLlamaNativeReplyReader(reading: ReplyReading): ReplyReader {
  return createFedReplyReader(new LlamaNativeDialect(reading), reading);
}

const finishReasons: Readonly<Record<string, FinishReason>> = { eos: 'stop', word: 'stop', limit: 'length' };

class LlamaNativeDialect implements ReplyDialect {
  readonly choices: ReplyChoices;
  readonly doneMark = '';
  /** Choices whose final object has come. */
  readonly #final = new Set<number>();

  constructor(reading: ReplyReading) {
    this.choices = new ReplyChoices(reading);
  }

  saidAll(): boolean {
    return this.#final.size > 0 && this.#final.size === this.choices.all.length;
  }

  readEvent(event: JsonObject): PartMeaning {
    return this.#readPart(event, 0);
  }

  readWhole(reply: Json): PartMeaning {
    const parts = isArray(reply) ? reply : [reply];
    const meanings = parts.map((part, position) =>
      isObject(part) ? this.#readPart(part, position) : 'other',
    );
    return (
      meanings.find((meaning) => meaning !== 'generation') ?? (parts.length > 0 ? 'generation' : 'other')
    );
  }

  readLastMembers(members: JsonObject): PartMeaning {
    const meaning = this.#readPart({ ...members, index: 0 }, 0);
    const first = this.choices.at(0);
    // Not seen, but nobody is accused of a missing one.
    first.hasAnswerText = true;
    return first.hasPromptCount ? meaning : 'other';
  }

  /** `response_fields` may have left out any member, the index too. */
  #readPart(part: JsonObject, position: number): PartMeaning {
    if (part['error'] !== undefined) return 'error';
    const draft = this.choices.at(part['index'] ?? position);
    const progress = readProgress(part);
    if (progress !== undefined) {
      // Its `tokens` are a placeholder: nothing has been generated yet.
      draft.noteCounts(progress);
      return 'other';
    }
    const told = readCounts(part);
    draft.noteCounts({
      ...told,
      promptTokens: count(part['tokens_evaluated']) ?? told.promptTokens,
      completionTokens: count(part['tokens_predicted']) ?? told.completionTokens,
    });
    const { content, tokens, stop_type: stopType } = part;
    draft.noteText(content);
    if (isArray(tokens)) draft.noteIds(tokens.filter((id) => typeof id === 'number'));
    if (part['stop'] === true) this.#final.add(draft.index);
    if (typeof stopType === 'string') draft.finishReason = finishReasons[stopType] ?? draft.finishReason;
    return 'generation';
  }
}
