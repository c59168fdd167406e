/** The adapter of llama-server: the one place that knows how its answers become facts and token ids. */
import { createHash } from 'node:crypto';

import { createAnthropicReplyReader } from '../exchange/anthropic-reply.ts';
import { createOpenAiReplyReader } from '../exchange/openai-reply.ts';
import type { EngineEvent } from '../exchange/engine-event.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ReplyReader, ReplyReading } from '../exchange/reply.ts';
import { createResponsesReplyReader } from '../exchange/responses-reply.ts';
import type { GenerationRequest } from '../exchange/request.ts';
import type { Route } from '../exchange/route.ts';
import { unknown, type Unknown } from '../exchange/token-read.ts';
import { SegmentCache } from '../tokens/segment-cache.ts';
import type { TrustChange } from '../tokens/trust.ts';

import type {
  AskContext,
  Engine,
  FactsRead,
  PromptReading,
  ServedModel,
  TokenizationView,
} from './engine.ts';
import { FactPatience } from './fact-patience.ts';
import { probeFacts } from './facts-probe.ts';
import { FreshProps } from './fresh-props.ts';
import { createLlamaNativeReplyReader } from './llama-native-reply.ts';
import { llamaIgnoredFields } from './llama-ignored-fields.ts';
import { LlamaOracle, OracleFailure, type LlamaProps } from './llama-oracle.ts';
import { LlamaPromptReading } from './llama-prompt-reading.ts';
import { readLlamaRefusal } from './llama-refusal.ts';
import { llamaRouteOf } from './llama-routes.ts';
import { MarkerScout } from './marker-scout.ts';
import { ModelRegistry, type KnownModel } from './model-registry.ts';
import type { OracleClient } from './oracle-client.ts';

export interface EngineDependencies {
  readonly client: OracleClient;
  readonly segmentCacheBytes: number;
  /** Random per process; keys every digest of text. */
  readonly digestKey: Uint8Array;
  readonly onEvent: (event: EngineEvent) => void;
  readonly onTokenized: (source: 'cache' | 'engine' | 'check', tokens: number) => void;
}

export class LlamaServerEngine implements Engine {
  readonly kind = 'llama-server';
  readonly slotsFlag = '--parallel';
  readonly #oracle: LlamaOracle;
  readonly #dependencies: EngineDependencies;
  readonly #models: ModelRegistry;
  readonly #segments: SegmentCache;
  readonly #scout: MarkerScout;
  readonly #props: FreshProps;
  readonly #patience = new FactPatience();
  #router: boolean | undefined;
  /** True from a refused or loading answer on until the engine has said again what it is. */
  #mayHaveChanged = false;

  constructor(dependencies: EngineDependencies) {
    this.#dependencies = dependencies;
    this.#oracle = new LlamaOracle(dependencies.client);
    this.#props = new FreshProps(this.#oracle);
    dependencies.client.onDisconnect(() => {
      this.#props.forget();
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
    return llamaRouteOf(method, path);
  }

  async facts(model: string | undefined, context: AskContext): Promise<FactsRead> {
    const name = this.#router === true ? (model ?? '') : '';
    const before = this.#mayHaveChanged ? undefined : this.#models.latest(name);
    return orUnknown(async () => ({
      known: true,
      facts: await this.#patience.facts(
        this.#model(model, context),
        before,
        () => !this.#mayHaveChanged && !this.#models.isLearning(name),
      ),
    }));
  }

  read(request: GenerationRequest, facts: ModelFacts, context: AskContext): PromptReading {
    return new LlamaPromptReading({
      request,
      facts,
      context,
      oracle: this.#oracle,
      segments: this.#segments,
      scout: this.#scout,
      model: this.#models.byIdentity(facts.identity),
      routedModel: this.#router === true ? request.model : undefined,
      confirmed: () => this.#patience.confirmed(facts),
      onTokenized: this.#dependencies.onTokenized,
      onWindowMismatch: (known) => {
        this.#report(known.facts, known.trust.windowMismatched());
      },
    });
  }

  replyReader(route: Route, request: GenerationRequest, given: ReplyReading): ReplyReader {
    const reading: ReplyReading = { ...given, readRefusal: readLlamaRefusal };
    switch (route.dialect) {
      case 'native':
        return createLlamaNativeReplyReader(reading);
      case 'anthropic':
        return createAnthropicReplyReader(reading);
      case 'responses':
        return createResponsesReplyReader(reading);
      case 'openai':
        return createOpenAiReplyReader({ ...reading, shape: request.kind });
    }
  }

  /** Its replies tell nothing that it is not asked for in ways that change more of them. */
  askingForIds(): undefined {
    return undefined;
  }

  async pieces(ids: readonly number[], facts: ModelFacts, context: AskContext): Promise<readonly string[]> {
    try {
      return await this.#oracle.pieces(ids, this.#router === true ? facts.modelName : undefined, context);
    } catch (error) {
      if (error instanceof OracleFailure) return [];
      throw error;
    }
  }

  async explain(
    text: string,
    model: string | undefined,
    context: AskContext,
  ): Promise<readonly TokenizationView[] | Unknown> {
    return orUnknown(async () => {
      // Makes sure that the model is there and awake: asking must not load or wake it.
      await this.#model(model, context);
      return this.#oracle.explain(text, this.#router === true ? model : undefined, context);
    });
  }

  async models(context: AskContext): Promise<readonly ServedModel[] | Unknown> {
    return orUnknown(() => this.#oracle.models(context));
  }

  noteReply(status: number | undefined): void {
    // Refused or loading: whatever answers next may be another process with another model.
    if (status === undefined || status === 503) {
      this.#props.forget();
      this.#mayHaveChanged = true;
    } else this.#dependencies.client.reachable();
  }

  noteCount(facts: ModelFacts, kind: string, matched: boolean): readonly TrustChange[] {
    const known = this.#models.byIdentity(facts.identity);
    if (known === undefined) return [];
    const changes = matched
      ? known.trust.countMatched(kind)
      : known.trust.countMismatched(kind, !portedKinds.has(kind));
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
      credentials: {},
    });
    // Whatever its body says: a server that answers without an error of its own takes requests.
    const ready = answer.known || (answer.status !== undefined && answer.status < 500);
    return { ready, reason: answer.known || ready ? 'the engine answers' : answer.reason };
  }

  async close(): Promise<void> {
    await this.#dependencies.client.close();
  }

  async #model(requested: string | undefined, context: AskContext): Promise<KnownModel> {
    if (this.#router !== false) {
      const props = await this.#props.get(undefined, context);
      this.#router = props.router;
      if (!props.router) return this.#knownUnder(props, undefined, context);
      if (requested === undefined || !(await this.#oracle.isLoaded(requested, context))) {
        // Once loaded it is another process.
        this.#props.forget();
        throw new OracleFailure('model-not-loaded', '/models');
      }
      return this.#knownUnder(await this.#props.get(requested, context), requested, context);
    }
    const props = await this.#props.get(undefined, context);
    if (props.router) this.#router = true;
    return this.#knownUnder(props, undefined, context);
  }

  async #knownUnder(props: LlamaProps, routed: string | undefined, context: AskContext): Promise<KnownModel> {
    const name = routed ?? '';
    const signature = signatureOf(props);
    this.#mayHaveChanged = props.sleeping && !this.#models.knows(name, signature);
    // Asking /tokenize would wake it, and the whole KV cache is gone with the sleep anyway.
    this.#models.noteSleep(name, props.sleeping);
    if (props.sleeping) throw new OracleFailure('engine-sleeping', '/props');
    return this.#models.get(name, signature, () => this.#learn(props, routed, signature, context));
  }

  async #learn(
    props: LlamaProps,
    routed: string | undefined,
    signature: string,
    { credentials }: AskContext,
  ): Promise<ModelFacts> {
    const context: AskContext = { credentials, signal: neverAborted };
    await this.#oracle.checkSeparator(routed, context);
    const input = { ...props, hidesBos: true };
    const probed = await probeFacts(input, {
      tokenizeMany: (texts) => this.#oracle.tokenizeMany(texts, routed, context),
      tokenizeOrdinary: (texts) => this.#oracle.tokenizeMany(texts, routed, context, false),
      tokenizePrompt: (text) => this.#oracle.tokenizePrompt(text, routed, context),
      controlTexts: (text) => this.#oracle.controlTexts(text, routed, context),
      render: async (body) => {
        const named = routed === undefined ? body : { ...body, model: routed };
        try {
          return await this.#oracle.render(JSON.stringify(named), routed !== undefined, context);
        } catch (error) {
          // The template may refuse a probe (raise_exception); that is a fact too.
          if (error instanceof OracleFailure && refusals.includes(error.reason)) return undefined;
          throw error;
        }
      },
    });
    const { addedPrefix, addedSuffix, ...rest } = probed;
    return {
      ...rest,
      modelName: routed ?? props.modelAlias,
      identity: signature,
      engine: this.kind,
      build: props.build,
      modelPath: props.modelPath,
      templateHash: props.template === '' ? '' : shortHash(props.template),
      templateFirstLine: props.template.split('\n', 1)[0]?.slice(0, 200) ?? '',
      addedPrefix: { chat: addedPrefix, completion: addedPrefix },
      addedSuffix: { chat: addedSuffix, completion: addedSuffix },
      ignoredFields: llamaIgnoredFields,
      contextTokens: props.contextTokens,
      slots: props.slots,
      mediaMarker: props.mediaMarker,
    };
  }

  #report({ modelName }: ModelFacts, changes: readonly TrustChange[], route = ''): void {
    const { onEvent } = this.#dependencies;
    for (const change of changes) {
      if (change === 'memoising-off') onEvent({ event: change, modelName });
      else onEvent({ event: `ids-${change}`, modelName, route });
    }
  }
}

/** Routes whose bodies we convert as the engine does: where the counts differ, the conversion is the first suspect. */
const portedKinds: ReadonlySet<string> = new Set(['messages', 'responses']);

async function orUnknown<Answer>(ask: () => Promise<Answer>): Promise<Answer | Unknown> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OracleFailure) return unknown(error.reason);
    throw error;
  }
}

const neverAborted = new AbortController().signal;
const refusals: readonly string[] = ['oracle-refused', 'oracle-error'];

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function signatureOf(props: LlamaProps): string {
  const { mediaMarker, modelPath, build, template, bosText, eosText, contextTokens } = props;
  return shortHash(
    JSON.stringify([mediaMarker, modelPath, build, template, bosText, eosText, contextTokens]),
  );
}
