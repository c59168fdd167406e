/** The adapter of vLLM, and of what answers like it: known by what its endpoints can do, not by its name. */
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ReplyReader, ReplyReading } from '../exchange/reply/reply.ts';
import type { ChatRequest, GenerationRequest } from '../exchange/request/request.ts';
import type { Unknown } from '../exchange/token-read.ts';
import type { TrustChange } from '../tokens/trust.ts';

import { untied } from './oracle/ask-context.ts';
import { unreadAttribution } from './facts/attribution-probe.ts';
import type {
  AskContext,
  Engine,
  EngineDependencies,
  FactsRead,
  PromptReading,
  ServedModel,
  TokenizationView,
} from './engine.ts';
import { ModelAdapter } from './model-adapter.ts';
import type { KnownModel } from './model-registry.ts';
import { OracleFailure, orUnknown } from './oracle/oracle-failure.ts';
import type { AskedPrompts } from './prompts-of.ts';
import { VllmChatIds } from './vllm/chat-ids.ts';
import { VllmOracle } from './vllm/oracle.ts';
import { probeVllm } from './vllm/probe.ts';
import { VllmPromptReading } from './vllm/prompt-reading.ts';
import { readVllmRefusal } from './vllm/refusal.ts';
import { createVllmReplyReader } from './vllm/reply.ts';
import { askingForIds } from './vllm/request-ids.ts';
import { VllmRestarts } from './vllm/restarts.ts';
import { vllmRouteOf } from './vllm/routes.ts';
import { VllmSignatures } from './vllm/signature.ts';

interface Ahead {
  readonly identity: string;
  readonly reading: PromptReading;
}

export class VllmEngine extends ModelAdapter implements Engine {
  readonly kind = 'vllm';
  readonly routeOf = vllmRouteOf;
  readonly askingForIds = askingForIds;
  protected readonly readRefusal = readVllmRefusal;
  readonly #oracle: VllmOracle;
  readonly #chats: VllmChatIds;
  readonly #signatures: VllmSignatures;
  readonly #restarts: VllmRestarts;
  /** What a request without a model gets; undefined until the engine has told. */
  #defaultName: string | undefined;
  /** Readings that were begun while the engine was asked what it is. */
  readonly #ahead = new WeakMap<GenerationRequest, Ahead>();

  constructor(dependencies: EngineDependencies) {
    super(dependencies);
    this.#oracle = new VllmOracle(dependencies.client);
    this.#chats = new VllmChatIds(this.#oracle, {
      maxBytes: dependencies.segmentCacheBytes / 4,
      digestKey: dependencies.digestKey,
    });
    this.#signatures = new VllmSignatures(this.#oracle);
    this.#restarts = new VllmRestarts(this.#oracle, () => {
      this.knowledge.models.noteRestart();
    });
  }

  override facts(
    requested: string | undefined,
    context: AskContext,
    request?: GenerationRequest,
  ): Promise<FactsRead> {
    const isFresh = this.#signatures.isFresh(requested ?? '');
    const facts = super.facts(requested, context);
    if (request?.kind === 'chat' && !isFresh) this.#readAhead(request, facts, context);
    return facts;
  }

  override read(request: GenerationRequest, facts: ModelFacts, context: AskContext): PromptReading {
    const ahead = this.#ahead.get(request);
    return ahead?.identity === facts.identity ? ahead.reading : super.read(request, facts, context);
  }

  /** On the strength of what was known; nothing is told or learnt of it until the engine has said that it is the same. */
  #readAhead(request: ChatRequest, confirming: Promise<FactsRead>, context: AskContext): void {
    const name = this.knownName(request.model);
    const { models, mayHaveChanged } = this.knowledge;
    const facts = models.latest(name)?.facts;
    if (facts === undefined || mayHaveChanged || models.isLearning(name)) return;
    const confirmed = async (): Promise<void> => {
      const read = await confirming;
      if (!read.known) throw new OracleFailure(read.reason, '/v1/models', read);
      if (read.facts.identity !== facts.identity) throw new OracleFailure('facts-missing', '/v1/models');
      await this.knowledge.confirmed(read.facts);
    };
    const texts = this.knowledge.textReading(facts, confirmed);
    const reading = this.reading({ request, facts, context, texts });
    this.#ahead.set(request, { identity: facts.identity, reading });
    void reading.heads();
  }

  protected reading(asked: AskedPrompts): PromptReading {
    return new VllmPromptReading({ ...asked, oracle: this.#oracle, chats: this.#chats });
  }

  async models(context: AskContext): Promise<readonly ServedModel[] | Unknown> {
    return orUnknown(async () => {
      const models = await this.#oracle.models(context);
      // What it lists it serves; of the context that a model was trained for it says nothing.
      return models.map(({ name }) => ({ name, aliases: [], status: 'loaded', trainedContextTokens: 0 }));
    });
  }

  override noteReply(status: number | undefined): void {
    super.noteReply(status);
    if (status === undefined || status === 503) this.#restarts.noteAway();
    this.#chats.noteReply();
  }

  noteCount(facts: ModelFacts, kind: string, matched: boolean): readonly TrustChange[] {
    return this.knowledge.noteCount(facts, kind, matched, true);
  }

  protected ownReplyReader(
    _dialect: 'openai' | 'native',
    request: GenerationRequest,
    reading: ReplyReading,
  ): ReplyReader {
    return createVllmReplyReader(request, reading);
  }

  protected forget(): void {
    this.#signatures.forget();
  }

  protected knownName(requested = ''): string {
    return requested === '' ? (this.#defaultName ?? '') : requested;
  }

  protected async model(requested = '', context: AskContext): Promise<KnownModel> {
    const identity = await this.#signatures.get(requested, context);
    this.#restarts.look(context);
    const { name } = identity.model;
    if (requested === '') this.#defaultName = name;
    this.knowledge.mayHaveChanged = false;
    return this.knowledge.models.get(name, identity.signature, async () => {
      const facts = await probeVllm(this.#oracle, identity, untied(context));
      const unread = await unreadAttribution(name, (request) => this.#chats.ask(request, facts, context));
      return { ...facts, unreadAttribution: unread };
    });
  }

  protected async textsOf(ids: readonly number[], model: string, context: AskContext): Promise<string[]> {
    const distinct = [...new Set(ids)];
    const texts = await Promise.all(distinct.map((id) => this.#oracle.detokenize([id], model, context)));
    const textOf = new Map(distinct.map((id, index) => [id, texts[index] ?? '']));
    return ids.map((id) => textOf.get(id) ?? '');
  }

  /** Texts of control tokens are always read as such here, so there are two ways: with what raw prompts get, and without. */
  protected viewsOf(text: string, model: string, context: AskContext): Promise<TokenizationView[]> {
    return Promise.all(
      [true, false].map(async (addSpecial) => {
        const ids = [...(await this.#oracle.tokenize(text, addSpecial, model, context)).ids];
        const pieces = await this.textsOf(ids, model, context);
        return { options: { add_special_tokens: addSpecial }, asPrompt: addSpecial, ids, pieces };
      }),
    );
  }
}
