/**
 * Ids of texts by proven segments, whichever engine tokenizes them, with what keeps that honest: nothing is remembered of
 * a model that changed, and one text in some has a boundary proven again.
 */
import type { Json } from '../exchange/request/request.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { unknown, type HeadRead, type KnownTokens } from '../exchange/token-read.ts';
import type { TokenizeMany } from '../tokens/boundary-proof.ts';
import { leadingMarkerIds } from '../tokens/markers.ts';
import type { SegmentCache } from '../tokens/segment-cache.ts';
import type { NewText, SegmentForecast } from '../tokens/segment-forecast.ts';

import type { MarkerScout } from './facts/marker-scout.ts';
import type { KnownModel } from './model-registry.ts';
import { OracleFailure } from './oracle/oracle-failure.ts';

/** How an engine is asked for the ids of texts, each on its own and with nothing added. */
export interface TextQuestions {
  /** Segments of one prompt, as they were cut at the model's markers; ends with the exchange. */
  readonly segments: (texts: readonly string[], model: KnownModel) => Promise<readonly Uint32Array[]>;
  /** Any texts; not tied to the exchange. */
  readonly many: TokenizeMany;
  /** The same with control tokens read as text; absent where the engine can't do that. */
  readonly ordinary?: TokenizeMany;
}

/** What an engine adds to a text, and what else its ids depend on. */
export interface TextSurroundings {
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** `cache_salt` of the request. */
  readonly salt: Json | undefined;
}

export interface TextReadingOptions {
  readonly facts: ModelFacts;
  /** Absent if the engine changed since the facts were read; then nothing is memoised. */
  readonly model: KnownModel | undefined;
  readonly segments: SegmentCache;
  readonly forecast: SegmentForecast;
  readonly scout: MarkerScout;
  /** Resolves when the engine may be asked about this model; until then only what is known already is said. */
  readonly confirmed: () => Promise<void>;
  readonly onTokenized: (source: 'engine' | 'check', tokens: number) => void;
  readonly onWindowMismatch: (model: KnownModel) => void;
}

const MiB = 1024 * 1024;

/** One prompt in this many is checked at one of its boundaries, over at most this many characters. */
const checkEvery = 16;
const checkWindow = 600;

export class TextReading {
  readonly #options: TextReadingOptions;

  constructor(options: TextReadingOptions) {
    this.#options = options;
  }

  /** Resolves when the engine may be asked about this model. @throws OracleFailure if it serves another by now */
  confirmed(): Promise<void> {
    return this.#options.confirmed();
  }

  /** Told of ids that the engine gave without being asked for a text. */
  noteTokenized(tokens: number, source: 'engine' | 'check'): void {
    this.#options.onTokenized(source, tokens);
  }

  /** Absent if the engine changed since the facts were read; then nothing is memoised. */
  get model(): KnownModel | undefined {
    return this.#options.model;
  }

  /** Told when remembered ids are not the engine's. */
  get onMismatch(): (model: KnownModel) => void {
    return this.#options.onWindowMismatch;
  }

  /** No tokenizer puts this many characters into every token of a context, so a longer prompt has no ids to know. */
  get mostCharacters(): number {
    return Math.min(8 * MiB, Math.max(MiB, this.#options.facts.contextTokens * 16));
  }

  /** The first ids, as far as they are markers: nothing is asked for them. */
  head(text: string, addedPrefix: readonly number[]): HeadRead {
    const { model } = this.#options;
    if (model === undefined) return unknown('facts-missing');
    return { known: true, ids: [...addedPrefix, ...leadingMarkerIds(text, model.markers)] };
  }

  /** @throws OracleFailure if the engine can't be asked, or is not for so long a text */
  async tokenize(text: string, around: TextSurroundings, questions: TextQuestions): Promise<KnownTokens> {
    const { model, segments, scout } = this.#options;
    await this.confirmed();
    if (model === undefined) throw new OracleFailure('facts-missing', '/tokenize');
    if (text.length > this.mostCharacters) throw new OracleFailure('body-too-large', '/tokenize');
    const { identity } = model.facts;
    let asked = '';
    const read = await segments.tokenize(text, {
      scope: scopeOf(identity, around.salt),
      markers: model.markers,
      addedPrefix: around.prefix,
      addedSuffix: around.suffix,
      memoise: model.trust.memoising,
      tokenizeMany: (texts) => {
        asked = texts.join('');
        return questions.segments(texts, model);
      },
    });
    if (asked !== '') {
      void scout.look(asked, identity, model.markers.idByText, questions.many, questions.ordinary);
    }
    if (Math.random() * checkEvery < 1) void this.#checkWindow(read, model, questions.many);
    return read;
  }

  /** Has marker-like texts proven in the background that the engine was seen to read as one token. */
  scout(texts: Iterable<string>, many: TokenizeMany): void {
    const { model, scout } = this.#options;
    if (model === undefined) return;
    void scout.look([...texts].join('\n'), model.facts.identity, model.markers.idByText, many);
  }

  /**
   * Has segments tokenized that a chat is likely to have, while the engine still renders it.
   * @param newest its messages, the newest first
   */
  tokenizeAhead(newest: readonly NewText[], salt: Json | undefined, questions: TextQuestions): void {
    const { model, segments, forecast } = this.#options;
    if (model?.trust.memoising !== true) return;
    const { identity } = model.facts;
    void segments.askAhead(forecast.segments(identity, newest), {
      scope: scopeOf(identity, salt),
      tokenizeMany: (texts) => questions.segments(texts, model),
    });
  }

  /** @param read the same chat, rendered and tokenized */
  learnFrom(newest: readonly NewText[], { text, segments }: KnownTokens): void {
    const { facts, forecast } = this.#options;
    if (text !== undefined && segments !== undefined) {
      forecast.learn(facts.identity, newest, text, segments);
    }
  }

  /** Tokenizes two neighbouring segments as one text: the proof of the boundary, again, on live traffic. */
  async #checkWindow(
    { ids, text = '', segments = [] }: KnownTokens,
    model: KnownModel,
    tokenizeMany: TokenizeMany,
  ): Promise<void> {
    const windows = segments.slice(0, -2).flatMap((first, index) => {
      const end = segments[index + 2];
      return end !== undefined && end.textStart - first.textStart <= checkWindow ? [{ first, end }] : [];
    });
    const window = windows[Math.floor(Math.random() * windows.length)];
    if (window === undefined) return;
    const { first, end } = window;
    try {
      const [whole = new Uint32Array()] = await tokenizeMany([text.slice(first.textStart, end.textStart)]);
      this.#options.onTokenized('check', whole.length);
      const ours = ids.subarray(first.tokenStart, end.tokenStart);
      const same = ours.length === whole.length && ours.every((id, index) => whole[index] === id);
      if (!same) this.#options.onWindowMismatch(model);
    } catch {
      // A check that could not be made proves nothing either way; the oracle's own metrics count it.
    }
  }
}

function scopeOf(identity: string, salt: Json | undefined): string {
  return JSON.stringify([identity, typeof salt === 'string' ? salt : null]);
}
