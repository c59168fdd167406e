/**
 * One request's prompts as vLLM reads them: a conversation's ids are those that its endpoints make of it, text is tokenized
 * by proven segments, ids stand as they are (engine-protocols, sections 3.2 to 3.4).
 */
import { holdsNul } from '../../exchange/json/json-bytes.ts';
import type { ChatRequest, RawPrompt } from '../../exchange/request/request.ts';
import { textStart } from '../../exchange/text-start.ts';
import {
  unknown,
  type AddedIds,
  type CutPart,
  type HeadRead,
  type KnownTokens,
  type TokenRead,
} from '../../exchange/token-read.ts';

import { untied } from '../oracle/ask-context.ts';
import type { AskContext, PromptReading } from '../engine.ts';
import { withoutLargeMedia } from '../large-media.ts';
import { tokenizeSegments, tokenizeSeparated } from '../joined-tokenization.ts';
import { promptsOf, type AskedPrompts } from '../prompts-of.ts';
import { addedTo } from './added-ids.ts';
import type { VllmChatIds } from './chat-ids.ts';
import type { VllmOracle } from './oracle.ts';
import { cutPrompt, truncationOf } from './truncation.ts';

export interface VllmPromptReadingOptions extends AskedPrompts {
  readonly oracle: VllmOracle;
  readonly chats: VllmChatIds;
}

/** Ids of a head: more BOS than these is nobody's prompt. */
const headTokens = 64;

export class VllmPromptReading implements PromptReading {
  readonly #options: VllmPromptReadingOptions;
  #chat: Promise<TokenRead> | undefined;

  constructor(options: VllmPromptReadingOptions) {
    this.#options = options;
  }

  heads(): Promise<readonly HeadRead[]> {
    const { facts, request } = this.#options;
    return promptsOf<HeadRead>(request, {
      chat: async (chat) => {
        const read = await this.#readChatOnce(chat);
        return read.known ? headOf(read, addedTo(chat, facts)) : read;
      },
      raw: (prompt) => this.#rawHead(prompt),
    });
  }

  prompts(): Promise<readonly TokenRead[]> {
    return promptsOf<TokenRead>(this.#options.request, {
      chat: (chat) => this.#readChatOnce(chat),
      raw: (prompt) => this.#rawPrompt(prompt),
    });
  }

  #readChatOnce(request: ChatRequest): Promise<TokenRead> {
    this.#chat ??= this.#readChat(request);
    return this.#chat;
  }

  async #readChat(request: ChatRequest): Promise<TokenRead> {
    const { chats, facts, context, texts } = this.#options;
    if (holdsNul(request.body)) return unknown('unreadable-body');
    // Where the cut falls depends on how many ids the media take.
    if (request.hasMedia && truncationOf(request, facts) !== undefined) return unknown('media');
    // A `prompt` would make a chat a text prompt to `/tokenize`; ids that come with the request replace its messages.
    const isText = request.dialect === 'openai' && request.json['prompt'] !== undefined;
    if (isText || hasForeignIds(request)) return unknown('engine-cannot');
    const most = texts.mostCharacters;
    // Of media little is asked, however large they are.
    if (request.body.length > most && withoutLargeMedia(request).length > most)
      return unknown('body-too-large');
    const { rendered, ...chat } = await chats.read(request, facts, context, texts);
    const read: KnownTokens = { known: true, source: 'engine', ...chat };
    const truncation = truncationOf(request, facts);
    // The route's own rendering has cut it already, so that a prompt of that length may be a part.
    const isCut = rendered && typeof truncation === 'object' && chat.ids.length === truncation.most;
    if (isCut) return { known: true, source: 'engine', ids: chat.ids, cut: truncation.cut };
    return rendered ? read : this.#asTruncated(read, addedTo(request, facts).ids.length);
  }

  #rawHead(prompt: RawPrompt): HeadRead | Promise<HeadRead> {
    const { request, facts, texts } = this.#options;
    if (isRefused(prompt, request.body)) return unknown('unreadable-body');
    if ((request.json['prompt_embeds'] ?? null) !== null) return unknown('engine-cannot');
    if (truncationOf(request, facts) !== undefined) return this.#headOfWhole(prompt);
    if (prompt.form === 'ids') return headOf(prompt, { ids: [], by: 'route' });
    // The engine refuses whatever else another engine takes as a prompt.
    if (prompt.form !== 'text') return unknown('engine-cannot');
    const added = addedTo(request, facts);
    const head = texts.head(textStart(request.body, prompt.path, prompt.text), added.ids);
    return head.known ? headOf(head, added) : head;
  }

  /** Where the start may be cut, the head is what is left of the whole. */
  async #headOfWhole(prompt: RawPrompt): Promise<HeadRead> {
    const { request, facts } = this.#options;
    const read = await this.#rawPrompt(prompt);
    if (!read.known) return read;
    return headOf(read, prompt.form === 'text' ? addedTo(request, facts) : { ids: [], by: 'route' });
  }

  async #rawPrompt(prompt: RawPrompt): Promise<TokenRead> {
    if (isRefused(prompt, this.#options.request.body)) return unknown('unreadable-body');
    // Embeddings stand before the text, and have no ids.
    if ((this.#options.request.json['prompt_embeds'] ?? null) !== null) return unknown('engine-cannot');
    if (prompt.form === 'ids') {
      return this.#asTruncated({ known: true, ids: Uint32Array.from(prompt.ids), source: 'client' }, 0);
    }
    if (prompt.form !== 'text') return unknown('engine-cannot');
    const { request, facts } = this.#options;
    return this.#asTruncated(await this.#tokenize(prompt.text), addedTo(request, facts).ids.length);
  }

  #tokenize(text: string): Promise<KnownTokens> {
    const { oracle, facts, context, texts, request } = this.#options;
    const one = (asking: AskContext) => async (part: string) =>
      (await oracle.tokenize(part, false, facts.modelName, asking)).ids;
    return texts.tokenize(
      text,
      {
        prefix: addedTo(request, facts).ids,
        suffix: request.json['add_special_tokens'] === false ? [] : facts.addedSuffix.completion,
        salt: request.json['cache_salt'],
      },
      {
        segments: (segments, { markers }) => tokenizeSegments(segments, markers, one(context)),
        many: (many) => tokenizeSeparated(many, facts.markers[0], one(untied(context))),
      },
    );
  }

  /** @param added how many ids the tokenizer puts in front by itself */
  #asTruncated(read: KnownTokens, added: number): TokenRead {
    const { request, facts } = this.#options;
    const truncation = truncationOf(request, facts);
    if (truncation === undefined) return read;
    if (truncation === 'refused') return unknown('engine-cannot');
    if (read.ids.length <= truncation.most) return read;
    // What else it would keep there was not seen.
    const hasSuffix = facts.addedSuffix.completion.length > 0 && !truncation.sideIsNamed && added > 0;
    return hasSuffix ? unknown('engine-cannot') : cutPrompt(read, truncation, added);
  }
}

function headOf(
  { ids, cut }: { readonly ids: ArrayLike<number>; readonly cut?: CutPart },
  added: AddedIds,
): HeadRead {
  return {
    known: true,
    ids: Array.from({ length: Math.min(ids.length, headTokens) }, (_, index) => ids[index] ?? 0),
    // Of what the engine has put in front nothing need be there any more.
    added: cut === 'start' && ids[0] !== added.ids[0] ? { ids: [], by: 'route' } : added,
    ...(cut !== undefined && { cut }),
  };
}

/** What llama.cpp casts to an id is none here, and Python's parser does not end at a NUL. */
function isRefused(prompt: RawPrompt, body: Buffer): boolean {
  return holdsNul(body) || (prompt.form === 'ids' && prompt.cast === true);
}

/** Disaggregated serving sends the ids beside the messages. */
function hasForeignIds({ json }: ChatRequest): boolean {
  const params = json['kv_transfer_params'];
  return typeof params === 'object' && params !== null && 'prompt_token_ids' in params;
}
