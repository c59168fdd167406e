/** What every adapter of an engine answers the same way: from what it keeps of the models, and by `/health`. */
import { createAnthropicReplyReader } from '../exchange/reply/anthropic-reply.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ReplyReader, ReplyReading } from '../exchange/reply/reply.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';
import { createResponsesReplyReader } from '../exchange/reply/responses-reply.ts';
import type { Route } from '../exchange/request/route.ts';
import type { Unknown } from '../exchange/token-read.ts';

import type { AskContext, EngineDependencies, FactsRead, PromptReading, TokenizationView } from './engine.ts';
import { ModelKnowledge } from './model-knowledge.ts';
import type { KnownModel } from './model-registry.ts';
import type { OracleClient } from './oracle/oracle-client.ts';
import { orUnknown } from './oracle/oracle-failure.ts';
import type { AskedPrompts } from './prompts-of.ts';

export abstract class ModelAdapter {
  protected readonly knowledge: ModelKnowledge;
  readonly #client: OracleClient;

  constructor(dependencies: EngineDependencies) {
    this.#client = dependencies.client;
    this.knowledge = new ModelKnowledge(dependencies, () => {
      this.forget();
    });
  }

  /** Whatever answers next may be another process: what the engine said of itself is old. */
  protected abstract forget(): void;

  /** The name under which the model of a request is known; '' for the engine's only one. */
  protected abstract knownName(requested: string | undefined): string;

  /** @throws OracleFailure if the engine does not say what it serves, or serves no such model */
  protected abstract model(requested: string | undefined, context: AskContext): Promise<KnownModel>;

  protected abstract readonly readRefusal: NonNullable<ReplyReading['readRefusal']>;

  /** For replies that are not in the shape of a route that several engines have from elsewhere. */
  protected abstract ownReplyReader(
    dialect: 'openai' | 'native',
    request: GenerationRequest,
    reading: ReplyReading,
  ): ReplyReader;

  /** @throws OracleFailure if the engine can't be asked */
  protected abstract textsOf(
    ids: readonly number[],
    modelName: string,
    context: AskContext,
  ): Promise<readonly string[]>;

  /** @throws OracleFailure if the engine can't be asked */
  protected abstract viewsOf(
    text: string,
    modelName: string,
    context: AskContext,
  ): Promise<readonly TokenizationView[]>;

  protected abstract reading(asked: AskedPrompts): PromptReading;

  read(request: GenerationRequest, facts: ModelFacts, context: AskContext): PromptReading {
    return this.reading({ request, facts, context, texts: this.knowledge.textReading(facts) });
  }

  facts(requested: string | undefined, context: AskContext): Promise<FactsRead> {
    return this.knowledge.facts(this.knownName(requested), () => this.model(requested, context));
  }

  replyReader({ dialect }: Route, request: GenerationRequest, given: ReplyReading): ReplyReader {
    const reading: ReplyReading = { ...given, readRefusal: this.readRefusal };
    switch (dialect) {
      case 'anthropic':
        return createAnthropicReplyReader(reading);
      case 'responses':
        return createResponsesReplyReader(reading);
      case 'openai':
      case 'native':
        return this.ownReplyReader(dialect, request, reading);
    }
  }

  async pieces(
    ids: readonly number[],
    { modelName }: ModelFacts,
    context: AskContext,
  ): Promise<readonly string[]> {
    const pieces = await orUnknown(() => this.textsOf(ids, modelName, context));
    return 'known' in pieces ? [] : pieces;
  }

  explain(
    text: string,
    requested: string | undefined,
    context: AskContext,
  ): Promise<readonly TokenizationView[] | Unknown> {
    return orUnknown(async () => {
      // Makes sure that the model is there and awake: asking must not load or wake it.
      const { facts } = await this.model(requested, context);
      return this.viewsOf(text, facts.modelName, context);
    });
  }

  noteReply(status: number | undefined): void {
    this.knowledge.noteReply(status);
  }

  idsVerified(facts: ModelFacts, kind?: string): boolean {
    return this.knowledge.idsVerified(facts, kind);
  }

  /** By the endpoint that wakes and loads nothing. */
  async ready(): Promise<{ ready: boolean; reason: string }> {
    const answer = await this.#client.ask({
      oracle: 'health',
      method: 'GET',
      path: '/health',
      plainText: true,
      credentials: {},
    });
    // Whatever its body says: a server that answers without an error of its own takes requests.
    const ready = answer.known || (answer.status !== undefined && answer.status < 500);
    return { ready, reason: answer.known || ready ? 'the engine answers' : answer.reason };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
