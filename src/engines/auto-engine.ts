/**
 * Stands in until the engine behind the upstream is recognised, and for good if no adapter knows it. Traffic flows all
 * the while; what can't be said is said as a reason.
 */
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ReplyReader, ReplyReading } from '../exchange/reply/reply.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';
import { passRoute, type Route } from '../exchange/request/route.ts';
import { unknown, type Unknown } from '../exchange/token-read.ts';
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

/** What an adapter says of an upstream: its own, not its own, or not to be told now. */
export type Recognition = { readonly known: true; readonly recognised: boolean } | Unknown;

export interface Candidate {
  readonly engine: Engine;
  recognise(context: AskContext): Promise<Recognition>;
}

/** An upstream that nobody recognised is asked again after this long: it may be replaced. */
const askAgainMs = 30_000;

export class AutoEngine implements Engine {
  readonly #candidates: readonly Candidate[];
  readonly #onRecognised: (engine: Engine) => void;
  #chosen: Engine | undefined;
  /** Set when every candidate said no, or one could not tell and is not to be asked so soon again. */
  #foreignUntilMs = 0;
  #foreignAs: Unknown = unknown('engine-cannot');
  #recognising: Promise<Unknown | undefined> | undefined;

  constructor(candidates: readonly Candidate[], onRecognised: (engine: Engine) => void) {
    this.#candidates = candidates;
    this.#onRecognised = onRecognised;
  }

  get kind(): string {
    return this.#chosen?.kind ?? 'unrecognised';
  }

  get slotsFlag(): string | undefined {
    return this.#chosen?.slotsFlag;
  }

  /** Before recognition any candidate's generation route is one: it must be carried by the sender that can abort. */
  routeOf(method: string, path: string): Route {
    if (this.#chosen !== undefined) return this.#chosen.routeOf(method, path);
    for (const { engine } of this.#candidates) {
      const route = engine.routeOf(method, path);
      if (route.kind !== 'pass') return route;
    }
    return passRoute;
  }

  async facts(
    model: string | undefined,
    context: AskContext,
    request?: GenerationRequest,
  ): Promise<FactsRead> {
    if (this.#chosen === undefined) {
      if (this.#foreignUntilMs > Date.now()) return this.#foreignAs;
      const shared = this.#recognising;
      this.#recognising ??= this.#recognise(context).finally(() => {
        this.#recognising = undefined;
      });
      let failed = await this.#recognising;
      // Another's key was refused, which says nothing about this one's.
      if (failed?.reason === 'oracle-refused' && shared !== undefined)
        failed = await this.#recognise(context);
      if (failed !== undefined) return failed;
    }
    return this.#chosen?.facts(model, context, request) ?? unknown('engine-cannot');
  }

  read(request: GenerationRequest, facts: ModelFacts, context: AskContext): PromptReading {
    return this.#served().read(request, facts, context);
  }

  replyReader(route: Route, request: GenerationRequest, reading: ReplyReading): ReplyReader {
    return this.#served().replyReader(route, request, reading);
  }

  askingForIds(request: GenerationRequest): IdsAsked | undefined {
    return this.#chosen?.askingForIds(request);
  }

  async pieces(ids: readonly number[], facts: ModelFacts, context: AskContext): Promise<readonly string[]> {
    return (await this.#chosen?.pieces(ids, facts, context)) ?? [];
  }

  async explain(
    text: string,
    model: string | undefined,
    context: AskContext,
  ): Promise<readonly TokenizationView[] | Unknown> {
    return this.#chosen?.explain(text, model, context) ?? unknown('engine-cannot');
  }

  async models(context: AskContext): Promise<readonly ServedModel[] | Unknown> {
    return this.#chosen?.models(context) ?? unknown('engine-cannot');
  }

  noteReply(status: number | undefined): void {
    if (this.#chosen === undefined && status === undefined) this.#foreignUntilMs = 0;
    for (const { engine } of this.#candidates) engine.noteReply(status);
  }

  noteCount(facts: ModelFacts, kind: string, matched: boolean): readonly TrustChange[] {
    return this.#chosen?.noteCount(facts, kind, matched) ?? [];
  }

  idsVerified(facts: ModelFacts, kind?: string): boolean {
    return this.#chosen?.idsVerified(facts, kind) ?? true;
  }

  async ready(): Promise<{ ready: boolean; reason: string }> {
    return this.#served().ready();
  }

  async close(): Promise<void> {
    await Promise.all(this.#candidates.map(({ engine }) => engine.close()));
  }

  /** The reader of replies needs no recognition: it reads what the route's dialect says. */
  #served(): Engine {
    const engine = this.#chosen ?? this.#candidates[0]?.engine;
    if (engine === undefined) throw new Error('no engine adapter is registered');
    return engine;
  }

  async #recognise(context: AskContext): Promise<Unknown | undefined> {
    let failed: Unknown | undefined;
    for (const candidate of this.#candidates) {
      const recognition = await candidate.recognise(context);
      if (!recognition.known) {
        failed = recognition;
      } else if (recognition.recognised) {
        this.#chosen = candidate.engine;
        this.#onRecognised(candidate.engine);
        return undefined;
      }
    }
    // So much is not to be read with every request.
    if (failed !== undefined && failed.reason !== 'answer-too-large') return failed;
    this.#foreignUntilMs = Date.now() + askAgainMs;
    this.#foreignAs = failed ?? unknown('engine-cannot');
    return this.#foreignAs;
  }
}
