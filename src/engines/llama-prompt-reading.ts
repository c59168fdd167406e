/**
 * One request's prompts as llama-server reads them: chat is rendered by `/apply-template` with the client's own bytes,
 * text is tokenized by proven segments, ids stand as they are (engine-protocols, sections 2.3 and 2.4).
 */
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { GenerationRequest, RawPrompt } from '../exchange/request.ts';
import { unknown, type HeadRead, type KnownTokens, type TokenRead } from '../exchange/token-read.ts';
import { leadingMarkerIds } from '../tokens/markers.ts';
import type { SegmentCache, TokenizeOptions } from '../tokens/segment-cache.ts';

import type { AskContext, PromptReading } from './engine.ts';
import { chatBodyOf } from './llama-chat-body.ts';
import { withoutLargeMedia } from './llama-media.ts';
import { OracleFailure, type LlamaOracle } from './llama-oracle.ts';
import type { MarkerScout } from './marker-scout.ts';
import type { KnownModel } from './model-registry.ts';

export interface LlamaPromptReadingOptions {
  readonly request: GenerationRequest;
  readonly facts: ModelFacts;
  readonly context: AskContext;
  readonly oracle: LlamaOracle;
  readonly segments: SegmentCache;
  readonly scout: MarkerScout;
  /** Absent if the engine changed since the facts were read; then nothing is memoised. */
  readonly model: KnownModel | undefined;
  /** The model to name in router mode. */
  readonly routedModel: string | undefined;
  /** Resolves when the engine may be asked about this model; until then only what is known already is said. */
  readonly confirmed: () => Promise<void>;
  readonly onTokenized: (source: 'check', tokens: number) => void;
  readonly onWindowMismatch: (model: KnownModel) => void;
}

const MiB = 1024 * 1024;

/** One prompt in this many is checked at one of its boundaries, over at most this many characters. */
const checkEvery = 16;
const checkWindow = 600;

export class LlamaPromptReading implements PromptReading {
  readonly #options: LlamaPromptReadingOptions;
  #rendered: Promise<string> | undefined;

  constructor(options: LlamaPromptReadingOptions) {
    this.#options = options;
  }

  async heads(): Promise<readonly HeadRead[]> {
    const { request } = this.#options;
    if (request.kind === 'completion') return request.prompts.map((prompt) => this.#rawHead(prompt));
    try {
      return [this.#textHead(await this.#render(), this.#options.facts.addedPrefix.chat)];
    } catch (error) {
      return [unknownFrom(error)];
    }
  }

  async prompts(): Promise<readonly TokenRead[]> {
    const { request, facts } = this.#options;
    if (request.kind === 'completion') {
      return Promise.all(request.prompts.map((prompt) => this.#rawPrompt(prompt)));
    }
    try {
      const text = await this.#render();
      return [await this.#tokenize(text, facts.addedPrefix.chat, facts.addedSuffix.chat)];
    } catch (error) {
      return [unknownFrom(error)];
    }
  }

  /** A chat's bytes are those that the generation route gets, so that the template sees the same request. */
  async #render(): Promise<string> {
    const { oracle, request, routedModel, context, confirmed } = this.#options;
    if (request.kind !== 'chat') throw new Error('only a chat is rendered');
    if (this.#rendered === undefined) {
      const body = withoutLargeMedia(request);
      // Not even sent: what can't fit into the context is refused by the engine, and reading it costs much.
      if (body.length > this.#mostCharacters()) throw new OracleFailure('body-too-large', '/apply-template');
      this.#rendered = confirmed().then(() =>
        oracle.render(chatBodyOf(request, body, routedModel), routedModel !== undefined, context),
      );
    }
    return this.#rendered;
  }

  /** No tokenizer puts this many characters into every token of a context, so a longer prompt has no ids to know. */
  #mostCharacters(): number {
    return Math.min(8 * MiB, Math.max(MiB, this.#options.facts.contextTokens * 16));
  }

  #textHead(text: string, addedPrefix: readonly number[]): HeadRead {
    const { model } = this.#options;
    if (model === undefined) return unknown('facts-missing');
    return { known: true, ids: [...addedPrefix, ...leadingMarkerIds(text, model.markers)] };
  }

  #rawHead(prompt: RawPrompt): HeadRead {
    const { facts } = this.#options;
    switch (prompt.form) {
      case 'text':
        return this.#textHead(prompt.text, facts.addedPrefix.completion);
      case 'ids':
        return { known: true, ids: prompt.ids.slice(0, 64) };
      case 'mixed': {
        const [first] = prompt.items;
        if (typeof first === 'string') return this.#textHead(first, facts.addedPrefix.completion);
        const firstText = prompt.items.findIndex((item) => typeof item === 'string');
        const leading = firstText < 0 ? prompt.items : prompt.items.slice(0, firstText);
        return { known: true, ids: leading.filter((item) => typeof item === 'number').slice(0, 64) };
      }
      case 'media':
        return unknown('media');
    }
  }

  async #rawPrompt(prompt: RawPrompt): Promise<TokenRead> {
    const { facts } = this.#options;
    try {
      switch (prompt.form) {
        case 'text':
          return await this.#tokenize(
            prompt.text,
            facts.addedPrefix.completion,
            facts.addedSuffix.completion,
          );
        case 'ids':
          return { known: true, ids: Uint32Array.from(prompt.ids), source: 'client' };
        case 'mixed':
          return await this.#mixed(prompt.items);
        case 'media':
          return unknown('media');
      }
    } catch (error) {
      return unknownFrom(error);
    }
  }

  /** Only a string in the first place gets BOS; later ones never do. */
  async #mixed(items: readonly (string | number)[]): Promise<TokenRead> {
    const { facts } = this.#options;
    const parts = await Promise.all(
      items.map(async (item, index) => {
        if (typeof item === 'number') return [item];
        const added = index === 0 ? facts.addedPrefix.completion : [];
        const suffix = index === 0 ? facts.addedSuffix.completion : [];
        return [...(await this.#tokenize(item, added, suffix)).ids];
      }),
    );
    return { known: true, ids: Uint32Array.from(parts.flat()), source: 'engine' };
  }

  async #tokenize(
    text: string,
    addedPrefix: readonly number[],
    addedSuffix: readonly number[],
  ): Promise<KnownTokens> {
    const { model, oracle, routedModel, context, segments, request, scout, confirmed } = this.#options;
    await confirmed();
    if (model === undefined) throw new OracleFailure('facts-missing', '/tokenize');
    if (text.length > this.#mostCharacters()) throw new OracleFailure('body-too-large', '/tokenize');
    const salt = request.json['cache_salt'];
    let asked = '';
    const tokenizeMany: TokenizeOptions['tokenizeMany'] = (texts) => {
      asked = texts.join('');
      return oracle.tokenizeMany(texts, routedModel, context);
    };
    const read = await segments.tokenize(text, {
      scope: JSON.stringify([model.facts.identity, typeof salt === 'string' ? salt : null]),
      markers: model.markers,
      addedPrefix,
      addedSuffix,
      memoise: model.trust.memoising,
      tokenizeMany,
    });
    if (asked !== '') {
      const quiet = { ...context, signal: new AbortController().signal };
      void scout.look(
        asked,
        model.facts.identity,
        model.markers.idByText,
        (texts) => oracle.tokenizeMany(texts, routedModel, quiet),
        (texts) => oracle.tokenizeMany(texts, routedModel, quiet, false),
      );
    }
    if (Math.random() * checkEvery < 1) void this.#checkWindow(read, model);
    return read;
  }

  /** Tokenizes two neighbouring segments as one text: the proof of the boundary, again, on live traffic. */
  async #checkWindow({ ids, text = '', segments = [] }: KnownTokens, model: KnownModel): Promise<void> {
    const { oracle, routedModel, context, onTokenized, onWindowMismatch } = this.#options;
    const windows = segments.slice(0, -2).filter((segment, index) => {
      const end = segments[index + 2]?.textStart ?? text.length;
      return end - segment.textStart <= checkWindow;
    });
    const first = windows[Math.floor(Math.random() * windows.length)];
    if (first === undefined) return;
    const end = segments[segments.indexOf(first) + 2];
    if (end === undefined) return;
    try {
      const quiet = { ...context, signal: new AbortController().signal };
      const window = text.slice(first.textStart, end.textStart);
      const [whole = new Uint32Array()] = await oracle.tokenizeMany([window], routedModel, quiet);
      onTokenized('check', whole.length);
      const ours = ids.subarray(first.tokenStart, end.tokenStart);
      if (ours.length !== whole.length || !ours.every((id, index) => whole[index] === id)) {
        onWindowMismatch(model);
      }
    } catch {
      // A check that could not be made proves nothing either way; the oracle's own metrics count it.
    }
  }
}

function unknownFrom(error: unknown): ReturnType<typeof unknown> {
  if (error instanceof OracleFailure) return unknown(error.reason);
  return unknown('inspection-failed');
}
