/**
 * One request's prompts as vLLM reads them: a conversation's ids are those that its endpoints make of it, text is tokenized
 * by proven segments, ids stand as they are (engine-protocols, sections 3.2 to 3.4). There is no rendered text of a
 * conversation: `/detokenize` need not give back what was tokenized.
 */
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest, GenerationRequest, RawPrompt } from '../exchange/request.ts';
import {
  unknown,
  type AddedIds,
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
import { addedTo } from './vllm-added-ids.ts';
import type { VllmChatIds } from './vllm-chat-ids.ts';
import type { VllmOracle } from './vllm-oracle.ts';

export interface VllmPromptReadingOptions {
  readonly request: GenerationRequest;
  readonly facts: ModelFacts;
  readonly context: AskContext;
  readonly oracle: VllmOracle;
  readonly chats: VllmChatIds;
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
    return [read.known ? headOf(read.ids, addedTo(request, this.#options.facts)) : read];
  }

  async prompts(): Promise<readonly TokenRead[]> {
    const { request } = this.#options;
    if (request.kind === 'chat') return [await this.#readChat(request)];
    return Promise.all(request.prompts.map((prompt) => orUnknownRead(() => this.#rawPrompt(prompt))));
  }

  #readChat(request: ChatRequest): Promise<TokenRead> {
    this.#chat ??= orUnknownRead(async () => {
      const { chats, facts, context, confirmed, onTokenized } = this.#options;
      if (request.hasMedia) return unknown('media');
      // A `prompt` would make a chat a text prompt to `/tokenize`; ids that come with the request replace its messages.
      const isText = request.dialect === 'openai' && request.json['prompt'] !== undefined;
      if (isText || hasForeignIds(request)) return unknown('engine-cannot');
      if (request.body.length > this.#mostCharacters()) return unknown('body-too-large');
      await confirmed();
      const { ids, rendered } = await chats.read(request, facts, context);
      onTokenized('engine', ids.length);
      const read: KnownTokens = { known: true, ids, source: 'engine' };
      return rendered ? read : this.#unlessTruncated(read);
    });
    return this.#chat;
  }

  #rawHead(prompt: RawPrompt): HeadRead {
    const { model, request, facts } = this.#options;
    const { truncate_prompt_tokens: truncated, prompt_embeds: embeds } = request.json;
    if ((truncated ?? null) !== null || (embeds ?? null) !== null) return unknown('engine-cannot');
    if (prompt.form === 'ids') return headOf(prompt.ids, { ids: [], by: 'route' });
    // The engine refuses whatever else another engine takes as a prompt.
    if (prompt.form !== 'text') return unknown('engine-cannot');
    if (model === undefined) return unknown('facts-missing');
    const added = addedTo(request, facts);
    return headOf([...added.ids, ...leadingMarkerIds(prompt.text, model.markers)], added);
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
    const salt = request.json['cache_salt'];
    const one = (signal: AbortSignal) => async (part: string) =>
      (await oracle.tokenize(part, false, facts.modelName, { ...context, signal })).ids;
    let asked = '';
    const read = await segments.tokenize(text, {
      scope: JSON.stringify([model.facts.identity, typeof salt === 'string' ? salt : null]),
      markers: model.markers,
      addedPrefix: addedTo(request, facts).ids,
      addedSuffix: request.json['add_special_tokens'] === false ? [] : facts.addedSuffix.completion,
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

  /** A prompt that is cut has other ids, and which depends on settings of the server's tokenizer. */
  #unlessTruncated(read: KnownTokens): TokenRead {
    const limit = this.#mostIds();
    return limit === undefined || read.ids.length <= limit ? read : unknown('engine-cannot');
  }

  /** Beyond this many ids the request wants its prompt cut; undefined if it does not. */
  #mostIds(): number | undefined {
    const { request, facts } = this.#options;
    // The engine keeps one id free for what it generates.
    const whole = facts.contextTokens - 1;
    if (request.kind === 'chat' && request.dialect === 'anthropic') return undefined;
    if (request.kind === 'chat' && request.dialect === 'responses') {
      const { truncation = 'disabled' } = request.json;
      return truncation === 'disabled' ? undefined : whole;
    }
    const limit = request.json['truncate_prompt_tokens'] ?? null;
    if (limit === null) return undefined;
    return limit === -1 ? whole : typeof limit === 'number' ? limit : 0;
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

function headOf(ids: ArrayLike<number>, added: AddedIds): HeadRead {
  return { known: true, ids: Array.from(ids).slice(0, headTokens), added };
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
