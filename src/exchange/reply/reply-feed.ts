/**
 * What all reply readers share: which replies can be read, events or one JSON body, what is kept, how it ended. Knows
 * no reply's shape; that is the dialect's. Never throws: an odd reply is one that was not read, and says so.
 */
import { isObject, parseJson } from '../json/body-reader.ts';
import { KeptJson } from '../json/kept-json.ts';
import type { ReplyChoices } from './reply-choices.ts';
import type { ContextRefusal, Reply, ReplyReader, ReplyReading } from './reply.ts';
import type { Json, JsonObject } from '../request/request.ts';
import { createSseReader, type SseReader } from './sse.ts';

/**
 * What a part of a reply was: work of the model, the event that ends a stream, the engine's error, or none of these
 * (progress, an unknown shape).
 */
export type PartMeaning = 'generation' | 'end' | 'error' | 'other';

/** How one family of replies is read. `choices` fills as parts are read. */
export interface ReplyDialect {
  readonly choices: ReplyChoices;
  /** The JSON object of one event. */
  readEvent(event: JsonObject): PartMeaning;
  /** An event's data that ends the stream without being JSON, `[DONE]`; '' if there is none. */
  readonly doneMark: string;
  /** Whether a stream that has ended said all it had to say; asked only where there is no done mark. */
  saidAll(): boolean;
  /** A reply in one piece. `other` means that it has not the dialect's shape. */
  readWhole(reply: Json): PartMeaning;
  /** The last members of an object too large to keep: counts. */
  readLastMembers(members: JsonObject): PartMeaning;
}

export function createFedReplyReader(dialect: ReplyDialect, reading: ReplyReading): ReplyReader {
  return new FedReplyReader(dialect, reading);
}

/** An error is short; of a longer one nothing is read. */
const mostErrorBytes = 65_536;

/** States: not started, then one of unread, events, one body, an error's body; `end` is the last call. */
class FedReplyReader implements ReplyReader {
  readonly #dialect: ReplyDialect;
  readonly #retainedBytes: number;
  readonly #readRefusal: ReplyReading['readRefusal'];
  #status = 0;
  #hasGeneration = false;
  #isDone = false;
  #unread: Reply['unreadReason'];
  /** Present for an event stream that is read. */
  #events: SseReader | undefined;
  /** Present for a JSON body that is read. */
  #body: KeptJson | undefined;
  /** Present for an error that came as one. */
  #errorBody: KeptJson | undefined;
  #refusal: ContextRefusal | undefined;

  constructor(dialect: ReplyDialect, { retainedBytes, readRefusal }: ReplyReading) {
    this.#dialect = dialect;
    this.#retainedBytes = retainedBytes;
    this.#readRefusal = readRefusal;
  }

  get started(): boolean {
    return this.#hasGeneration;
  }

  start(status: number, contentType: string, contentEncoding: string): void {
    this.#status = status;
    const isCompressed = contentEncoding !== '' && contentEncoding !== 'identity';
    if (status >= 400) {
      this.#unread = 'engine-error';
      if (!isCompressed) this.#errorBody = new KeptJson(Math.min(mostErrorBytes, this.#retainedBytes));
    } else if (isCompressed) this.#unread = 'compressed';
    else if (contentType.startsWith('text/event-stream')) {
      this.#events = createSseReader(this.#retainedBytes, (data) => {
        this.#readEvent(data);
      });
    } else this.#body = new KeptJson(this.#retainedBytes);
  }

  push(chunk: Buffer): void {
    this.#events?.push(chunk);
    this.#body?.push(chunk);
    this.#errorBody?.push(chunk);
    // So much is no error: the model wrote it.
    if (this.#body?.isWhole === false) this.#hasGeneration = true;
  }

  end(cut: boolean): Reply {
    if (this.#body !== undefined) this.#readBody(this.#body, cut);
    const error = this.#errorBody?.value();
    if (error !== undefined && 'whole' in error && isObject(error.whole)) this.#noteError(error.whole);
    const drafts = this.#dialect.choices.all;
    const dropped = this.#events?.droppedEvents ?? 0;
    const lacksCounts = drafts.length === 0 || drafts.some((draft) => !draft.hasPromptCount);
    if (dropped > 0 && lacksCounts) this.#unread ??= 'too-large';
    const isEmptyStream = this.#events !== undefined && !this.#hasGeneration && !cut;
    if (isEmptyStream) this.#unread ??= 'unexpected-shape';
    const isWhole = dropped === 0 && this.#body?.isWhole !== false;
    return {
      status: this.#status,
      started: this.#hasGeneration,
      complete: this.#isComplete(cut),
      choices: drafts.map((draft) => draft.result(isWhole)),
      ...(this.#unread === undefined ? {} : { unreadReason: this.#unread }),
      ...(this.#refusal === undefined ? {} : { refusal: this.#refusal }),
    };
  }

  #isComplete(cut: boolean): boolean {
    if (this.#events === undefined) return !cut;
    if (this.#unread === 'engine-error') return false;
    return this.#isDone || (this.#dialect.doneMark === '' && !cut && this.#dialect.saidAll());
  }

  #readEvent(data: string): void {
    if (data === this.#dialect.doneMark) {
      this.#isDone = true;
      return;
    }
    // llama-server starts the stream of several prompts with `data: null`.
    const event = parseJson(data);
    if (!isObject(event)) return;
    const meaning = this.#dialect.readEvent(event);
    if (meaning === 'error') this.#noteError(event);
    this.#note(meaning);
  }

  /** @param carrier the object whose `error` it is */
  #noteError({ error }: JsonObject): void {
    if (isObject(error)) this.#refusal ??= this.#readRefusal?.(error);
  }

  #readBody(body: KeptJson, cut: boolean): void {
    const value = body.value();
    if (value === undefined) {
      if (!body.isWhole) this.#unread = 'too-large';
      else if (!cut) this.#unread = 'unexpected-shape';
      return;
    }
    const isWhole = 'whole' in value;
    const meaning = isWhole
      ? this.#dialect.readWhole(value.whole)
      : this.#dialect.readLastMembers(value.lastMembers);
    if (meaning === 'other') this.#unread = isWhole ? 'unexpected-shape' : 'too-large';
    this.#note(meaning);
  }

  #note(meaning: PartMeaning): void {
    if (meaning === 'end') this.#isDone = true;
    if (meaning === 'generation' || meaning === 'end') this.#hasGeneration = true;
    else if (meaning === 'error') this.#unread = 'engine-error';
  }
}
