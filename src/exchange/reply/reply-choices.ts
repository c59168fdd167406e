/** What becomes known about a reply's choices while it streams by. Keeps counts and bounded pieces, never the text. */
import { parseJson } from '../json/body-reader.ts';
import type { ChoiceReply, FinishReason, ReplyReading } from './reply.ts';
import type { Json } from '../request/request.ts';
import { compileTurnMarks, TurnScan, type TurnPattern } from '../written/turn-scan.ts';

/** Larger indexes are not the engine's: nothing is kept for them. */
const maxChoices = 1024;
const bytesPerId = 8;

/** Counts as an engine gives them; undefined where it says nothing. Later ones replace earlier ones. */
export interface ChoiceCounts {
  readonly promptTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
  readonly prefillTokensPerSecond?: number | undefined;
}

/** What may still be kept, in bytes, over all choices. */
interface Budget {
  bytes: number;
}

/** One choice in the making. A field is undefined, and a set empty, until the reply has told it. */
export class ChoiceDraft {
  readonly index: number;
  finishReason: FinishReason | undefined;
  hasAnswerText = false;
  hasReasoning = false;
  readonly #budget: Budget;
  #counts: ChoiceCounts = {};
  /** Argument text per tool call; undefined once it did not fit. */
  readonly #toolArguments = new Map<number, string | undefined>();
  /** Undefined once they did not fit. */
  #ids: number[] | undefined = [];
  #promptIds: readonly number[] | undefined;
  readonly #turns: TurnScan | undefined;

  constructor(index: number, budget: Budget, turns: TurnPattern | undefined) {
    this.index = index;
    this.#budget = budget;
    this.#turns = turns && new TurnScan(turns);
  }

  /** A piece of the answer, in order; it is looked at and not kept. White space alone is no answer. */
  noteText(text: Json | undefined): void {
    if (typeof text !== 'string') return;
    this.hasAnswerText ||= /\S/.test(text);
    this.#turns?.push(text);
  }

  noteCounts(counts: ChoiceCounts): void {
    const told = Object.entries(counts).filter(([, value]) => value !== undefined);
    this.#counts = { ...this.#counts, ...Object.fromEntries(told) };
  }

  noteToolArguments(call: number, text: string): void {
    if (call >= maxChoices) return;
    const before = this.#toolArguments.has(call) ? this.#toolArguments.get(call) : '';
    this.#toolArguments.set(
      call,
      before !== undefined && this.#fits(text.length) ? before + text : undefined,
    );
  }

  /** A call whose arguments the reply does not show as the model wrote them. */
  noteUnseenArguments(call: number): void {
    if (call < maxChoices) this.#toolArguments.set(call, undefined);
  }

  noteIds(ids: readonly number[]): void {
    if (!this.#fits(ids.length * bytesPerId)) this.#ids = undefined;
    for (const id of ids) this.#ids?.push(id);
  }

  /** All ids of the prompt, in one piece. */
  notePromptIds(ids: readonly number[]): void {
    this.noteCounts({ promptTokens: ids.length });
    if (this.#fits(ids.length * bytesPerId)) this.#promptIds = ids;
  }

  /** @param isWhole false if parts of the reply were not seen: then nothing is said about what needs all of them */
  result(isWhole: boolean): ChoiceReply {
    const { promptTokens, cachedTokens, completionTokens, prefillTokensPerSecond } = this.#counts;
    const toolArgumentsValid = isWhole ? this.#toolArgumentsValid() : undefined;
    // llama-server streams no id for a token that is only a part of a character: then the ids are not all there, and its
    // count says so. Where there is no count, those that came were generated first.
    const ids = this.#ids ?? [];
    const hasAllIds = ids.length > 0 && (completionTokens ?? ids.length) === ids.length;
    return {
      index: this.index,
      ...(this.finishReason === undefined ? {} : { finishReason: this.finishReason }),
      ...(promptTokens === undefined ? {} : { promptTokens }),
      ...(cachedTokens === undefined ? {} : { cachedTokens }),
      ...(completionTokens === undefined ? {} : { completionTokens }),
      ...(prefillTokensPerSecond === undefined ? {} : { prefillTokensPerSecond }),
      ...(this.#promptIds === undefined ? {} : { promptIds: this.#promptIds }),
      ...(isWhole && hasAllIds ? { generatedIds: ids } : {}),
      ...(toolArgumentsValid === undefined ? {} : { toolArgumentsValid }),
      hasAnswerText: this.hasAnswerText,
      hasReasoning: this.hasReasoning,
      hasToolCalls: this.hasToolCalls,
      ...(this.#turns === undefined ? {} : { turns: this.#turns.end() }),
    };
  }

  get hasToolCalls(): boolean {
    return this.#toolArguments.size > 0;
  }

  get hasPromptCount(): boolean {
    return this.#counts.promptTokens !== undefined;
  }

  #toolArgumentsValid(): boolean | undefined {
    const texts = [...this.#toolArguments.values()];
    if (texts.length === 0) return undefined;
    const kept = texts.filter((text) => text !== undefined);
    if (kept.some((text) => parseJson(text) === undefined)) return false;
    return kept.length === texts.length ? true : undefined;
  }

  #fits(bytes: number): boolean {
    if (bytes > this.#budget.bytes) return false;
    this.#budget.bytes -= bytes;
    return true;
  }
}

export class ReplyChoices {
  readonly #drafts = new Map<number, ChoiceDraft>();
  readonly #budget: Budget;
  readonly #turns: TurnPattern | undefined;

  constructor({ retainedBytes, turnMarks = [] }: ReplyReading) {
    this.#budget = { bytes: retainedBytes };
    this.#turns = compileTurnMarks(turnMarks);
  }

  /** The choice's draft, made on first use; a draft that nobody reads for an index that no engine gives. */
  at(index: unknown): ChoiceDraft {
    const known = typeof index === 'number' ? this.#drafts.get(index) : undefined;
    if (known !== undefined) return known;
    const isIndex = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < maxChoices;
    const draft = new ChoiceDraft(isIndex ? index : 0, this.#budget, this.#turns);
    if (isIndex) this.#drafts.set(index, draft);
    return draft;
  }

  get all(): readonly ChoiceDraft[] {
    return [...this.#drafts.values()].toSorted((a, b) => a.index - b.index);
  }
}
