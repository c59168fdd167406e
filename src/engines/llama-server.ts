/** The adapter of llama-server: the one place that knows how its answers become facts and token ids. */
import type { ModelFacts } from '../exchange/model-facts.ts';
import { createOpenAiReplyReader } from '../exchange/reply/openai-reply.ts';
import type { ReplyReader, ReplyReading } from '../exchange/reply/reply.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';
import type { Unknown } from '../exchange/token-read.ts';
import type { TrustChange } from '../tokens/trust.ts';

import { untied } from './oracle/ask-context.ts';
import type { AskContext, Engine, EngineDependencies, PromptReading, ServedModel } from './engine.ts';
import { FreshAnswers } from './fresh-answers.ts';
import { createLlamaNativeReplyReader } from './llama-server/native-reply.ts';
import { LlamaOracle } from './llama-server/oracle.ts';
import { probeLlama, signatureOf } from './llama-server/probe.ts';
import { LlamaPromptReading } from './llama-server/prompt-reading.ts';
import type { LlamaProps } from './llama-server/props.ts';
import { readLlamaRefusal } from './llama-server/refusal.ts';
import { llamaRouteOf } from './llama-server/routes.ts';
import { ModelAdapter } from './model-adapter.ts';
import type { KnownModel } from './model-registry.ts';
import { OracleFailure, orUnknown } from './oracle/oracle-failure.ts';
import type { AskedPrompts } from './prompts-of.ts';

/** How long an answer of `/props` stands for "awake and unchanged"; `--sleep-idle-seconds` counts whole seconds. */
const freshMs = 900;

export class LlamaServerEngine extends ModelAdapter implements Engine {
  readonly kind = 'llama-server';
  readonly slotsFlag = '--parallel';
  readonly routeOf = llamaRouteOf;
  protected readonly readRefusal = readLlamaRefusal;
  readonly #oracle: LlamaOracle;
  readonly #props: FreshAnswers<LlamaProps>;
  #router: boolean | undefined;

  constructor(dependencies: EngineDependencies) {
    super(dependencies);
    this.#oracle = new LlamaOracle(dependencies.client);
    this.#props = new FreshAnswers({
      freshMs,
      // `/props` neither wakes nor loads anything.
      ask: (name, context) => this.#oracle.props(name === '' ? undefined : name, context),
      // The request that learns this wakes the engine.
      holds: (props) => !props.sleeping,
    });
  }

  protected reading(asked: AskedPrompts): PromptReading {
    const routedModel = this.#routed(asked.request.model);
    return new LlamaPromptReading({ ...asked, oracle: this.#oracle, routedModel });
  }

  /** Its replies tell nothing that it is not asked for in ways that change more of them. */
  askingForIds(): undefined {
    return undefined;
  }

  async models(context: AskContext): Promise<readonly ServedModel[] | Unknown> {
    return orUnknown(() => this.#oracle.models(context));
  }

  noteCount(facts: ModelFacts, kind: string, matched: boolean): readonly TrustChange[] {
    return this.knowledge.noteCount(facts, kind, matched, !portedKinds.has(kind));
  }

  protected ownReplyReader(
    dialect: 'openai' | 'native',
    request: GenerationRequest,
    reading: ReplyReading,
  ): ReplyReader {
    return dialect === 'native'
      ? createLlamaNativeReplyReader(reading)
      : createOpenAiReplyReader({ ...reading, shape: request.kind });
  }

  protected forget(): void {
    this.#props.forget();
  }

  protected knownName(requested: string | undefined): string {
    return this.#routed(requested) ?? '';
  }

  protected async model(requested: string | undefined, context: AskContext): Promise<KnownModel> {
    if (this.#router !== false) {
      const props = await this.#props.get('', context);
      this.#router = props.router;
      if (!props.router) return this.#knownUnder(props, undefined, context);
      const status = requested && (await this.#oracle.statusOf(requested, context));
      // `/props` of a sleeping model does not wake it.
      if (requested === undefined || (status !== 'loaded' && status !== 'sleeping')) {
        // Once loaded it is another process.
        this.#props.forget();
        throw new OracleFailure('model-not-loaded', '/models');
      }
      return this.#knownUnder(await this.#props.get(requested, context), requested, context);
    }
    const props = await this.#props.get('', context);
    if (props.router) this.#router = true;
    return this.#knownUnder(props, undefined, context);
  }

  protected textsOf(ids: readonly number[], modelName: string, context: AskContext): Promise<string[]> {
    return this.#oracle.pieces(ids, this.#routed(modelName), context);
  }

  protected viewsOf(text: string, modelName: string, context: AskContext) {
    return this.#oracle.explain(text, this.#routed(modelName), context);
  }

  /** The name that a question must say: only a router asks for one. */
  #routed<Name extends string | undefined>(name: Name): Name | undefined {
    return this.#router === true ? name : undefined;
  }

  async #knownUnder(props: LlamaProps, routed: string | undefined, context: AskContext): Promise<KnownModel> {
    const name = routed ?? '';
    const signature = signatureOf(props);
    const { models } = this.knowledge;
    this.knowledge.mayHaveChanged = props.sleeping && !models.knows(name, signature);
    // Asking /tokenize would wake it, and the whole KV cache is gone with the sleep anyway.
    models.noteSleep(name, props.sleeping);
    if (props.sleeping) throw new OracleFailure('engine-sleeping', '/props');
    return models.get(name, signature, () => probeLlama(this.#oracle, props, routed, untied(context)));
  }
}

/** Routes whose bodies we convert as the engine does: where the counts differ, the conversion is the first suspect. */
const portedKinds: ReadonlySet<string> = new Set(['messages', 'responses']);
