/**
 * The ids of a conversation, by the endpoint of vLLM that knows most: the generation route's own `/render`, which most
 * servers have switched off, else `/tokenize` with what the route makes of the body.
 */
import { applyEdits } from '../../exchange/edits.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { ChatDialect, ChatRequest } from '../../exchange/request/request.ts';
import type { KnownTokens } from '../../exchange/token-read.ts';

import { untied } from '../oracle/ask-context.ts';
import type { AskContext } from '../engine.ts';
import { tokenizeSeparated } from '../joined-tokenization.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';
import type { TextReading } from '../text-reading.ts';
import { tokenizeBodyOf } from './chat-body.ts';
import { addedTo } from './added-ids.ts';
import { VllmChatMemory, type ChatMemoryOptions } from './chat-memory.ts';
import { VllmChatTexts } from './chat-texts.ts';
import type { VllmOracle, VllmTokens } from './oracle.ts';
import { withPictureStandIns } from './picture-stand-ins.ts';
import { TemplateTrial } from './template-trial.ts';

export interface ChatIds extends Pick<KnownTokens, 'text' | 'segments'> {
  readonly ids: Uint32Array;
  /** True if they are what the route itself made of the body, with all of its fields. */
  readonly rendered: boolean;
}

const paths: Readonly<Record<ChatDialect, string>> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
};

/** How long an endpoint that was not there is not asked again: a restart may have switched it on. */
const absentMs = 60_000;

/**
 * Answers of a server, or of a gateway before it, that has no such endpoint or does not let us have it. A 200 without ids is a
 * gateway's page for whatever it does not know.
 */
const absences: ReadonlySet<number | undefined> = new Set([200, 401, 403, 404, 405, 501]);

export class VllmChatIds {
  readonly #oracle: VllmOracle;
  readonly #trial: TemplateTrial;
  readonly #memory: VllmChatMemory;
  readonly #texts: VllmChatTexts;
  /** By dialect: until when its render endpoint counts as absent, by the monotonic clock. */
  readonly #absentUntil = new Map<ChatDialect, number>();

  constructor(oracle: VllmOracle, memory: ChatMemoryOptions) {
    this.#oracle = oracle;
    this.#memory = new VllmChatMemory(memory);
    this.#texts = new VllmChatTexts(oracle, memory.digestKey);
    this.#trial = new TemplateTrial(oracle);
  }

  /** @throws OracleFailure if the engine can't be asked, refuses the body, or can't be followed in it */
  async read(
    request: ChatRequest,
    facts: ModelFacts,
    context: AskContext,
    texts: TextReading,
  ): Promise<ChatIds> {
    // The engine may be asked while it is asked what it is; what it answers counts once it has said that it is the same.
    const [{ chat, keep }] = await Promise.all([
      this.#ask(request, facts, context, texts),
      texts.confirmed(),
    ]);
    await keep();
    if (texts.model === undefined) return chat;
    const prefixLength = addedTo(request, facts).ids.length;
    const read = await this.#texts.read(texts.model, chat.ids, prefixLength, context);
    // No text of a chat is tokenized by itself, which is how markers of raw prompts are seen.
    texts.scout(await this.#texts.markerLike(texts.model, context), (many) =>
      this.#tokenizeMany(many, facts, untied(context)),
    );
    return { ...chat, ...read };
  }

  #tokenizeMany(many: readonly string[], { markers, modelName }: ModelFacts, context: AskContext) {
    const one = async (text: string): Promise<Uint32Array> =>
      (await this.#oracle.tokenize(text, false, modelName, context)).ids;
    return tokenizeSeparated(many, markers[0], one);
  }

  /** @returns what is told, and how to keep what was learnt by it */
  async #ask(
    given: ChatRequest,
    facts: ModelFacts,
    context: AskContext,
    texts: TextReading,
  ): Promise<{ readonly chat: ChatIds; readonly keep: () => Promise<void> }> {
    const request = given.hasMedia ? withPictureStandIns(given) : given;
    if (request === undefined) throw new OracleFailure('media', '/tokenize');
    // What is asked is not what the route gets: the text around its media is, whichever endpoint tells.
    const rendered = given.hasMedia ? undefined : await this.#render(request, context);
    if (rendered !== undefined) {
      texts.noteTokenized(rendered.length, 'engine');
      return { chat: { ids: rendered, rendered: true }, keep: () => Promise.resolve() };
    }
    const bytes = await tokenizeBodyOf(request, async () => {
      // What is learnt of a template is kept for the model.
      await texts.confirmed();
      return this.#trial.traits(request.json, facts, context);
    });
    const body = bytes === request.body ? { bytes, json: request.json } : { bytes };
    const ask = async (asked: Buffer | string, within: AskContext, source: 'engine' | 'check') => {
      const answer = await this.#oracle.tokenizeBody(asked, within);
      texts.noteTokenized(answer.ids.length, source);
      return answer;
    };
    const { model } = texts;
    let named: VllmTokens | undefined;
    const { ids, remember } = await this.#memory.read(body, model, {
      ask: async (whole) => {
        if (model === undefined) return (await ask(whole, context, 'engine')).ids;
        named = await ask(withEntries(whole), context, 'engine');
        return named.ids;
      },
      // Most of what is in it has been named before; the rest is asked for by itself.
      askAbbreviated: async (short) => (await ask(short, context, 'engine')).ids,
      askBeside: async (any) => (await ask(any, untied(context), 'check')).ids,
      onMismatch: texts.onMismatch,
    });
    return {
      chat: { ids, rendered: false },
      keep: async () => {
        remember();
        if (model !== undefined && named !== undefined) await this.#texts.learn(model, named, context);
      },
    };
  }

  /** As `read`, but always of the whole: for conversations that are nobody's. */
  async ask(request: ChatRequest, facts: ModelFacts, context: AskContext): Promise<Uint32Array> {
    const asking = untied(context);
    const rendered = await this.#render(request, asking);
    if (rendered !== undefined) return rendered;
    const body = await tokenizeBodyOf(request, () => this.#trial.traits(request.json, facts, asking));
    return (await this.#oracle.tokenizeBody(body, asking)).ids;
  }

  /** A reply has begun. */
  noteReply(): void {
    this.#memory.noteReply();
  }

  /** Undefined if the endpoint does not tell: it refuses some bodies that the route takes. */
  async #render(request: ChatRequest, context: AskContext): Promise<Uint32Array | undefined> {
    const { dialect, json, body } = request;
    // For thinking that is off the route may take another effort than its render endpoint.
    if (dialect === 'anthropic' && (json['thinking'] ?? null) !== null) return undefined;
    if ((this.#absentUntil.get(dialect) ?? 0) > performance.now()) return undefined;
    try {
      return await this.#oracle.render(paths[dialect], body, context);
    } catch (error) {
      if (!(error instanceof OracleFailure)) throw error;
      if (absences.has(error.status)) this.#absentUntil.set(dialect, performance.now() + absentMs);
      else if (error.reason !== 'oracle-refused') throw error;
      return undefined;
    }
  }
}

/** Of duplicate keys the last one counts. */
function withEntries(body: Buffer | string): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const end = bytes.lastIndexOf('}');
  return applyEdits(bytes, [{ start: end, end, replacement: ',"return_token_strs":true' }]);
}
