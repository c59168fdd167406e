/**
 * One request's prompts as vLLM reads them: a chat's ids are those that `/tokenize` makes of it, text is tokenized by
 * proven segments, ids stand as they are (engine-protocols, sections 3.2 to 3.4). There is no rendered text of a chat:
 * `/detokenize` need not give back what was tokenized.
 */
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest, GenerationRequest, RawPrompt } from '../exchange/request.ts';
import {
  unknown,
  type HeadRead,
  type KnownTokens,
  type TokenRead,
  type Unknown,
} from '../exchange/token-read.ts';
import { leadingMarkerIds } from '../tokens/markers.ts';
import type { SegmentCache } from '../tokens/segment-cache.ts';

import type { AskContext, PromptReading } from './engine.ts';
import { tokenizeSegments, tokenizeSeparated } from './joined-tokenization.ts';
import type { MarkerScout } from './marker-scout.ts';
import type { KnownModel } from './model-registry.ts';
import { OracleFailure } from './oracle-failure.ts';
import { tokenizeBodyOf } from './vllm-chat-body.ts';
import type { VllmOracle } from './vllm-oracle.ts';

export interface VllmPromptReadingOptions {
  readonly request: GenerationRequest;
  readonly facts: ModelFacts;
  readonly context: AskContext;
  readonly oracle: VllmOracle;
  readonly segments: SegmentCache;
  readonly scout: MarkerScout;
  /** Absent if the engine changed since the facts were read; then nothing is memoised. */
  readonly model: KnownModel | undefined;
  /** Resolves when the engine may be asked about this model; until then only what is known already is said. */
  readonly confirmed: () => Promise<void>;
  readonly onTokenized: (source: 'engine' | 'check', tokens: number) => void;
  readonly onWindowMismatch: (model: KnownModel) => void;
}

const MiB = 1024 * 1024;

/** Ids of a head: more BOS than these is nobody's prompt. */
const headTokens = 64;

/** One prompt in this many is checked at one of its boundaries, over at most this many characters. */
const checkEvery = 16;
const checkWindow = 600;

const neverAborted = new AbortController().signal;

export class VllmPromptReading implements PromptReading {
  readonly #options: VllmPromptReadingOptions;
  #chat: Promise<TokenRead> | undefined;

  constructor(options: VllmPromptReadingOptions) {
    this.#options = options;
  }

  async heads(): Promise<readonly HeadRead[]> {
    const { request } = this.#options;
    if (request.kind === 'completion') return request.prompts.map((prompt) => this.#rawHead(prompt));
    const read = await this.#readChat(request);
    return [read.known ? headOf(read.ids) : read];
  }

  async prompts(): Promise<readonly TokenRead[]> {
    const { request } = this.#options;
    if (request.kind === 'chat') return [await this.#readChat(request)];
    return Promise.all(request.prompts.map((prompt) => orUnknownRead(() => this.#rawPrompt(prompt))));
  }

  #readChat(request: ChatRequest): Promise<TokenRead> {
    this.#chat ??= orUnknownRead(async () => {
      const { oracle, context, confirmed, onTokenized } = this.#options;
      if (request.hasMedia) return unknown('media');
      // A `prompt` would make it a text prompt to `/tokenize`; ids that come with the request replace its messages.
      if (request.json['prompt'] !== undefined || hasForeignIds(request)) return unknown('engine-cannot');
      if (request.body.length > this.#mostCharacters()) return unknown('body-too-large');
      await confirmed();
      const { ids } = await oracle.tokenizeBody(tokenizeBodyOf(request), context);
      onTokenized('engine', ids.length);
      return this.#unlessTruncated({ known: true, ids, source: 'engine' });
    });
    return this.#chat;
  }

  #rawHead(prompt: RawPrompt): HeadRead {
    const { model, request } = this.#options;
    const { truncate_prompt_tokens: truncated, prompt_embeds: embeds } = request.json;
    if ((truncated ?? null) !== null || (embeds ?? null) !== null) return unknown('engine-cannot');
    if (prompt.form === 'ids') return headOf(prompt.ids);
    // The engine refuses whatever else another engine takes as a prompt.
    if (prompt.form !== 'text') return unknown('engine-cannot');
    if (model === undefined) return unknown('facts-missing');
    return headOf([...this.#added().prefix, ...leadingMarkerIds(prompt.text, model.markers)]);
  }

  async #rawPrompt(prompt: RawPrompt): Promise<TokenRead> {
    // Embeddings stand before the text, and have no ids.
    if ((this.#options.request.json['prompt_embeds'] ?? null) !== null) return unknown('engine-cannot');
    if (prompt.form === 'ids') {
      return this.#unlessTruncated({ known: true, ids: Uint32Array.from(prompt.ids), source: 'client' });
    }
    if (prompt.form !== 'text') return unknown('engine-cannot');
    return this.#unlessTruncated(await this.#tokenize(prompt.text));
  }

  async #tokenize(text: string): Promise<KnownTokens> {
    const { model, oracle, facts, context, segments, request, scout, confirmed } = this.#options;
    await confirmed();
    if (model === undefined) throw new OracleFailure('facts-missing', '/tokenize');
    if (text.length > this.#mostCharacters()) throw new OracleFailure('body-too-large', '/tokenize');
    const { prefix, suffix } = this.#added();
    const salt = request.json['cache_salt'];
    const one = (signal: AbortSignal) => async (part: string) =>
      (await oracle.tokenize(part, false, facts.modelName, { ...context, signal })).ids;
    let asked = '';
    const read = await segments.tokenize(text, {
      scope: JSON.stringify([model.facts.identity, typeof salt === 'string' ? salt : null]),
      markers: model.markers,
      addedPrefix: prefix,
      addedSuffix: suffix,
      memoise: model.trust.memoising,
      tokenizeMany: (texts) => {
        asked = texts.join('');
        return tokenizeSegments(texts, model.markers, one(context.signal));
      },
    });
    if (asked !== '') {
      void scout.look(asked, model.facts.identity, model.markers.idByText, (texts) =>
        tokenizeSeparated(texts, model.facts.markers[0], one(neverAborted)),
      );
    }
    if (Math.random() * checkEvery < 1) void this.#checkWindow(read, model, one(neverAborted));
    return read;
  }

  /** What the engine adds to a text of this request. */
  #added(): { readonly prefix: readonly number[]; readonly suffix: readonly number[] } {
    const { request, facts } = this.#options;
    if (request.json['add_special_tokens'] === false) return { prefix: [], suffix: [] };
    return { prefix: facts.addedPrefix.completion, suffix: facts.addedSuffix.completion };
  }

  /** A prompt that is cut has other ids, and which depends on settings of the server's tokenizer. */
  #unlessTruncated(read: KnownTokens): TokenRead {
    const limit = this.#options.request.json['truncate_prompt_tokens'] ?? null;
    const isWhole = limit === null || (typeof limit === 'number' && read.ids.length <= limit);
    return isWhole ? read : unknown('engine-cannot');
  }

  /** No tokenizer puts this many characters into every token of a context, so a longer prompt has no ids to know. */
  #mostCharacters(): number {
    return Math.min(8 * MiB, Math.max(MiB, this.#options.facts.contextTokens * 16));
  }

  /** Tokenizes two neighbouring segments as one text: the proof of the boundary, again, on live traffic. */
  async #checkWindow(
    { ids, text = '', segments = [] }: KnownTokens,
    model: KnownModel,
    tokenize: (text: string) => Promise<Uint32Array>,
  ): Promise<void> {
    const windows = segments.slice(0, -2).flatMap((first, index) => {
      const end = segments[index + 2];
      return end !== undefined && end.textStart - first.textStart <= checkWindow ? [{ first, end }] : [];
    });
    const window = windows[Math.floor(Math.random() * windows.length)];
    if (window === undefined) return;
    const { first, end } = window;
    try {
      const whole = await tokenize(text.slice(first.textStart, end.textStart));
      this.#options.onTokenized('check', whole.length);
      const ours = ids.subarray(first.tokenStart, end.tokenStart);
      const same = ours.length === whole.length && ours.every((id, index) => whole[index] === id);
      if (!same) this.#options.onWindowMismatch(model);
    } catch {
      // A check that could not be made proves nothing either way; the oracle's own metrics count it.
    }
  }
}

function headOf(ids: ArrayLike<number>): HeadRead {
  return { known: true, ids: Array.from(ids).slice(0, headTokens) };
}

/** Disaggregated serving sends the ids beside the messages. */
function hasForeignIds({ json }: ChatRequest): boolean {
  const params = json['kv_transfer_params'];
  return typeof params === 'object' && params !== null && 'prompt_token_ids' in params;
}

async function orUnknownRead(read: () => Promise<TokenRead>): Promise<TokenRead | Unknown> {
  try {
    return await read();
  } catch (error) {
    return unknown(error instanceof OracleFailure ? error.reason : 'inspection-failed');
  }
}
