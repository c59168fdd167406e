/** The adapter of vLLM, and of what answers like it: known by what its endpoints can do, not by its name. */
import { createHash } from 'node:crypto';

import { createAnthropicReplyReader } from '../exchange/anthropic-reply.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ReplyReader, ReplyReading } from '../exchange/reply.ts';
import type { GenerationRequest } from '../exchange/request.ts';
import { createResponsesReplyReader } from '../exchange/responses-reply.ts';
import type { Route } from '../exchange/route.ts';
import type { Unknown } from '../exchange/token-read.ts';
import { SegmentCache } from '../tokens/segment-cache.ts';
import type { TrustChange } from '../tokens/trust.ts';

import type {
  AskContext,
  Engine,
  FactsRead,
  IdsAsked,
  PromptReading,
  ServedModel,
  TokenizationView,
} from './engine.ts';
import { FactPatience } from './fact-patience.ts';
import type { EngineDependencies } from './llama-server.ts';
import { MarkerScout } from './marker-scout.ts';
import { ModelRegistry, type KnownModel } from './model-registry.ts';
import { orUnknown } from './oracle-failure.ts';
import { VllmChatIds } from './vllm-chat-ids.ts';
import { VllmOracle } from './vllm-oracle.ts';
import { probeVllm } from './vllm-probe.ts';
import { VllmPromptReading } from './vllm-prompt-reading.ts';
import { readVllmRefusal } from './vllm-refusal.ts';
import { createVllmReplyReader } from './vllm-reply.ts';
import { askingForIds, withoutIds } from './vllm-request-ids.ts';
import { vllmRouteOf } from './vllm-routes.ts';
import { VllmSignatures, type VllmIdentity } from './vllm-signature.ts';

const neverAborted = new AbortController().signal;

export class VllmEngine implements Engine {
  readonly kind = 'vllm';
  readonly #dependencies: EngineDependencies;
  readonly #oracle: VllmOracle;
  readonly #chats: VllmChatIds;
  readonly #signatures: VllmSignatures;
  readonly #models: ModelRegistry;
  readonly #segments: SegmentCache;
  readonly #scout: MarkerScout;
  readonly #patience = new FactPatience();
  /** What a request without a model gets; undefined until the engine has told. */
  #defaultName: string | undefined;
  /** True from a refused or failing answer on until the engine has said again what it is. */
  #mayHaveChanged = false;

  constructor(dependencies: EngineDependencies) {
    this.#dependencies = dependencies;
    this.#oracle = new VllmOracle(dependencies.client);
    this.#chats = new VllmChatIds(this.#oracle);
    this.#signatures = new VllmSignatures(this.#oracle);
    dependencies.client.onDisconnect(() => {
      this.#signatures.forget();
    });
    this.#models = new ModelRegistry(dependencies.onEvent);
    this.#segments = new SegmentCache({
      maxBytes: dependencies.segmentCacheBytes,
      digestKey: dependencies.digestKey,
      onTokenized: dependencies.onTokenized,
    });
    this.#scout = new MarkerScout((identity, found) => {
      this.#models.addMarkers(identity, found);
    });
  }

  routeOf(method: string, path: string): Route {
    return vllmRouteOf(method, path);
  }

  async facts(model: string | undefined, context: AskContext): Promise<FactsRead> {
    const requested = model ?? '';
    const name = requested === '' ? (this.#defaultName ?? '') : requested;
    const before = this.#mayHaveChanged ? undefined : this.#models.latest(name);
    return orUnknown(async () => ({
      known: true,
      facts: await this.#patience.facts(
        this.#model(requested, context),
        before,
        () => !this.#mayHaveChanged && !this.#models.isLearning(name),
      ),
    }));
  }

  read(request: GenerationRequest, facts: ModelFacts, context: AskContext): PromptReading {
    return new VllmPromptReading({
      request,
      facts,
      context,
      oracle: this.#oracle,
      chats: this.#chats,
      segments: this.#segments,
      scout: this.#scout,
      model: this.#models.byIdentity(facts.identity),
      confirmed: () => this.#patience.confirmed(facts),
      onTokenized: this.#dependencies.onTokenized,
      onWindowMismatch: (known) => {
        this.#report(known.facts, known.trust.windowMismatched());
      },
    });
  }

  replyReader(route: Route, request: GenerationRequest, given: ReplyReading): ReplyReader {
    const reading: ReplyReading = { ...given, readRefusal: readVllmRefusal };
    switch (route.dialect) {
      case 'anthropic':
        return createAnthropicReplyReader(reading);
      case 'responses':
        return createResponsesReplyReader(reading);
      case 'openai':
      case 'native':
        return createVllmReplyReader(request, reading);
    }
  }

  askingForIds(request: GenerationRequest): IdsAsked | undefined {
    const edits = askingForIds(request);
    return edits && { edits, mend: withoutIds };
  }

  async pieces(ids: readonly number[], facts: ModelFacts, context: AskContext): Promise<readonly string[]> {
    const pieces = await orUnknown(() => this.#pieces(ids, facts.modelName, context));
    return 'known' in pieces ? [] : pieces;
  }

  /** Texts of control tokens are always read as such here, so there are two ways: with what raw prompts get, and without. */
  async explain(
    text: string,
    model: string | undefined,
    context: AskContext,
  ): Promise<readonly TokenizationView[] | Unknown> {
    return orUnknown(async () => {
      const { facts } = await this.#model(model ?? '', context);
      return Promise.all(
        [true, false].map(async (addSpecial) => {
          const tokens = await this.#oracle.tokenize(text, addSpecial, facts.modelName, context);
          const ids = [...tokens.ids];
          const pieces = await this.#pieces(ids, facts.modelName, context);
          return { options: { add_special_tokens: addSpecial }, asPrompt: addSpecial, ids, pieces };
        }),
      );
    });
  }

  async models(context: AskContext): Promise<readonly ServedModel[] | Unknown> {
    return orUnknown(async () => {
      const models = await this.#oracle.models(context);
      // What it lists it serves; of the context that a model was trained for it says nothing.
      return models.map(({ name }) => ({ name, aliases: [], status: 'loaded', trainedContextTokens: 0 }));
    });
  }

  noteReply(status: number | undefined): void {
    if (status === undefined || status === 503) {
      this.#signatures.forget();
      this.#mayHaveChanged = true;
    } else this.#dependencies.client.reachable();
  }

  noteCount(facts: ModelFacts, kind: string, matched: boolean): readonly TrustChange[] {
    const known = this.#models.byIdentity(facts.identity);
    if (known === undefined) return [];
    // Only texts are tokenized by segments: a chat's count says nothing about what is remembered.
    const changes = matched
      ? known.trust.countMatched(kind)
      : known.trust.countMismatched(kind, kind === 'completion');
    this.#report(facts, changes, kind);
    return changes;
  }

  idsVerified(facts: ModelFacts, kind?: string): boolean {
    return this.#models.byIdentity(facts.identity)?.trust.verified(kind) ?? true;
  }

  async ready(): Promise<{ ready: boolean; reason: string }> {
    const answer = await this.#dependencies.client.ask({
      oracle: 'health',
      method: 'GET',
      path: '/health',
      plainText: true,
      credentials: {},
    });
    const ready = answer.known || (answer.status !== undefined && answer.status < 500);
    return { ready, reason: answer.known || ready ? 'the engine answers' : answer.reason };
  }

  async close(): Promise<void> {
    await this.#dependencies.client.close();
  }

  async #model(requested: string, context: AskContext): Promise<KnownModel> {
    const identity = await this.#signatures.get(requested, context);
    const { name } = identity.model;
    if (requested === '') this.#defaultName = name;
    this.#mayHaveChanged = false;
    return this.#models.get(name, identity.signature, () => this.#learn(identity, context));
  }

  async #learn(
    { model, signature, version, contextTokens }: VllmIdentity,
    { credentials }: AskContext,
  ): Promise<ModelFacts> {
    const context: AskContext = { credentials, signal: neverAborted };
    const [{ facts, template }, cacheBlockTokens] = await Promise.all([
      probeVllm(this.#oracle, model.name, context),
      this.#oracle.cacheBlockTokens(context),
    ]);
    const { addedPrefix, addedSuffix, ...rest } = facts;
    return {
      ...rest,
      modelName: model.name,
      identity: signature,
      engine: this.kind,
      build: version,
      modelPath: model.root,
      templateHash: template === undefined || template === '' ? '' : shortHash(template),
      templateFirstLine: template?.split('\n', 1)[0]?.slice(0, 200) ?? '',
      addedPrefix: { chat: [], completion: addedPrefix },
      addedSuffix: { chat: [], completion: addedSuffix },
      contextTokens,
      slots: 0,
      mediaMarker: '',
      ...(cacheBlockTokens === undefined ? {} : { cacheBlockTokens }),
    };
  }

  async #pieces(ids: readonly number[], model: string, context: AskContext): Promise<string[]> {
    const distinct = [...new Set(ids)];
    const texts = await Promise.all(distinct.map((id) => this.#oracle.detokenize([id], model, context)));
    const textOf = new Map(distinct.map((id, index) => [id, texts[index] ?? '']));
    return ids.map((id) => textOf.get(id) ?? '');
  }

  #report({ modelName }: ModelFacts, changes: readonly TrustChange[], route = ''): void {
    const { onEvent } = this.#dependencies;
    for (const change of changes) {
      if (change === 'memoising-off') onEvent({ event: change, modelName });
      else onEvent({ event: `ids-${change}`, modelName, route });
    }
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
