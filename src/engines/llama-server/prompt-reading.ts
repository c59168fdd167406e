/**
 * One request's prompts as llama-server reads them: chat is rendered by `/apply-template` with the client's own bytes,
 * text is tokenized by proven segments, ids stand as they are (engine-protocols, sections 2.3 and 2.4).
 */
import type { ChatRequest, RawPrompt } from '../../exchange/request/request.ts';
import { contentText } from '../../exchange/request/system-text.ts';
import { textStart } from '../../exchange/text-start.ts';
import { unknown, type HeadRead, type KnownTokens, type TokenRead } from '../../exchange/token-read.ts';
import type { NewText } from '../../tokens/segment-forecast.ts';

import { untied } from '../oracle/ask-context.ts';
import type { PromptReading } from '../engine.ts';
import { chatBodyOf } from './chat-body.ts';
import { withoutLargeMedia } from '../large-media.ts';
import type { LlamaOracle } from './oracle.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';
import { promptsOf, type AskedPrompts } from '../prompts-of.ts';
import type { TextQuestions } from '../text-reading.ts';

export interface LlamaPromptReadingOptions extends AskedPrompts {
  readonly oracle: LlamaOracle;
  /** The model to name in router mode. */
  readonly routedModel: string | undefined;
}

export class LlamaPromptReading implements PromptReading {
  readonly #options: LlamaPromptReadingOptions;
  #rendered: Promise<string> | undefined;

  constructor(options: LlamaPromptReadingOptions) {
    this.#options = options;
  }

  heads(): Promise<readonly HeadRead[]> {
    const { texts, facts, request } = this.#options;
    return promptsOf<HeadRead>(request, {
      chat: async (chat) => texts.head(await this.#render(chat), facts.addedPrefix.chat),
      raw: (prompt) => this.#rawHead(prompt),
    });
  }

  prompts(): Promise<readonly TokenRead[]> {
    const { facts, request, texts } = this.#options;
    return promptsOf<TokenRead>(request, {
      chat: async (chat) => {
        const rendered = await this.#render(chat);
        const read = await this.#tokenize(rendered, facts.addedPrefix.chat, facts.addedSuffix.chat);
        texts.learnFrom(newestTexts(chat), read);
        return read;
      },
      raw: (prompt) => this.#rawPrompt(prompt),
    });
  }

  /** A chat's bytes are those that the generation route gets, so that the template sees the same request. */
  async #render(request: ChatRequest): Promise<string> {
    const { oracle, texts, routedModel, context } = this.#options;
    if (this.#rendered === undefined) {
      const body = withoutLargeMedia(request);
      // Not even sent: what can't fit into the context is refused by the engine, and reading it costs much.
      if (body.length > texts.mostCharacters) throw new OracleFailure('body-too-large', '/apply-template');
      this.#rendered = texts.confirmed().then(() => {
        const asked = chatBodyOf(request, body, routedModel);
        const rendered = oracle.render(asked, routedModel !== undefined, context);
        texts.tokenizeAhead(newestTexts(request), request.json['cache_salt'], this.#questions());
        return rendered;
      });
    }
    return this.#rendered;
  }

  #rawHead(prompt: RawPrompt): HeadRead {
    const { facts, texts, request } = this.#options;
    switch (prompt.form) {
      case 'text': {
        const start = textStart(request.body, prompt.path, prompt.text);
        return texts.head(start, facts.addedPrefix.completion);
      }
      case 'ids':
        return { known: true, ids: prompt.ids.slice(0, 64) };
      case 'mixed': {
        const [first] = prompt.items;
        if (typeof first === 'string') {
          const start = textStart(request.body, [...prompt.path, 0], first);
          return texts.head(start, facts.addedPrefix.completion);
        }
        const firstText = prompt.items.findIndex((item) => typeof item === 'string');
        const leading = firstText < 0 ? prompt.items : prompt.items.slice(0, firstText);
        return { known: true, ids: leading.filter((item) => typeof item === 'number').slice(0, 64) };
      }
      case 'media':
        return unknown('media');
    }
  }

  async #rawPrompt(prompt: RawPrompt): Promise<TokenRead> {
    const { addedPrefix, addedSuffix } = this.#options.facts;
    switch (prompt.form) {
      case 'text':
        return this.#tokenize(prompt.text, addedPrefix.completion, addedSuffix.completion);
      case 'ids':
        return { known: true, ids: Uint32Array.from(prompt.ids), source: 'client' };
      case 'mixed':
        return this.#mixed(prompt.items);
      case 'media':
        return unknown('media');
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

  #tokenize(text: string, prefix: readonly number[], suffix: readonly number[]): Promise<KnownTokens> {
    const { texts, request } = this.#options;
    return texts.tokenize(text, { prefix, suffix, salt: request.json['cache_salt'] }, this.#questions());
  }

  #questions(): TextQuestions {
    const { oracle, routedModel, context } = this.#options;
    const quiet = untied(context);
    return {
      segments: (segments) => oracle.tokenizeMany(segments, routedModel, context),
      many: (many) => oracle.tokenizeMany(many, routedModel, quiet),
      ordinary: (many) => oracle.tokenizeMany(many, routedModel, quiet, false),
    };
  }
}

/** An answer, the results of tools and the next question are what a turn brings. */
const mostNew = 4;

function newestTexts({ messages }: ChatRequest): NewText[] {
  return messages
    .slice(-mostNew)
    .toReversed()
    .map(({ role, value }) => ({ role, text: contentText(value['content']) }));
}
