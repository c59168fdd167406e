/** What the rest of the product may ask of an engine. Only this folder knows which engine it is. */
import type { Edit } from '../exchange/edits.ts';
import type { EngineEvent } from '../exchange/engine-event.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ReplyReader, ReplyReading } from '../exchange/reply/reply.ts';
import type { Mend } from '../exchange/reply/reply-mender.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';
import type { Route } from '../exchange/request/route.ts';
import type { HeadRead, TokenRead, Unknown } from '../exchange/token-read.ts';
import type { TrustChange } from '../tokens/trust.ts';

import type { OracleClient } from './oracle/oracle-client.ts';

/** Headers that authorise oracle calls: the client's own, else the operator's. Lower-case names. */
export type Credentials = Readonly<Record<string, string>>;

export interface AskContext {
  readonly credentials: Credentials;
  /** Aborted when nobody needs the answer any more. */
  readonly signal: AbortSignal;
}

/** The prompts of one request as the engine reads them. Each question is asked at most once. */
export interface PromptReading {
  /** The first ids per prompt index; needs the rendered text and the facts, but no tokenization. */
  heads(): Promise<readonly HeadRead[]>;
  /** All ids per prompt index. */
  prompts(): Promise<readonly TokenRead[]>;
}

export type FactsRead = { readonly known: true; readonly facts: ModelFacts } | Unknown;

/** One way in which the engine can tokenize a text, and what comes of it. */
export interface TokenizationView {
  /** The switches by the engine's own names, such as `parse_special`. */
  readonly options: Readonly<Record<string, boolean>>;
  /** True for the way in which the routes that take raw text read it. */
  readonly asPrompt: boolean;
  readonly ids: readonly number[];
  /** One per id; bytes where a token is only a part of a character. */
  readonly pieces: readonly TokenPiece[];
}
export type TokenPiece = string | readonly number[];

/** An entry of the engine's own list of models. */
export interface ServedModel {
  readonly name: string;
  readonly aliases: readonly string[];
  /** In the engine's own word; `loaded` for one that can be asked without waking or loading it. */
  readonly status: string;
  /** Context that the model was trained for, in tokens; 0 if not told. */
  readonly trainedContextTokens: number;
}

/** How a reply is made to tell ids that the client must not see. */
export interface IdsAsked {
  /** Of the request's body. */
  readonly edits: readonly Edit[];
  readonly mend: Mend;
}

/** What every adapter is made of. */
export interface EngineDependencies {
  readonly client: OracleClient;
  readonly segmentCacheBytes: number;
  /** Random per process; keys every digest of text. */
  readonly digestKey: Uint8Array;
  readonly onEvent: (event: EngineEvent) => void;
  readonly onTokenized: (source: 'cache' | 'engine' | 'check', tokens: number) => void;
}

export interface Engine {
  readonly kind: string;
  /** The flag that sets how many prompts it keeps at once; absent if it has no such slots. */
  readonly slotsFlag?: string | undefined;
  /** `path` without query, below the upstream's base path. */
  routeOf(method: string, path: string): Route;
  /**
   * Facts of the model that the request is for; learnt on first need, kept until the engine changes.
   * @param request the one that is read next, if it may be asked for while the engine says what it is
   */
  facts(model: string | undefined, context: AskContext, request?: GenerationRequest): Promise<FactsRead>;
  read(request: GenerationRequest, facts: ModelFacts, context: AskContext): PromptReading;
  replyReader(route: Route, request: GenerationRequest, reading: ReplyReading): ReplyReader;
  /**
   * What to change in a request so that its reply tells the ids, and how to take them out again. Undefined if the engine
   * can't be asked on this route, or if the client asks itself.
   */
  askingForIds(request: GenerationRequest): IdsAsked | undefined;
  /** The texts of single ids, for an operator who asked to see them. Empty if the engine can't be asked. */
  pieces(ids: readonly number[], facts: ModelFacts, context: AskContext): Promise<readonly string[]>;
  /** A text tokenized in every way the engine has, for people who compare. Adds no finding and remembers nothing. */
  explain(
    text: string,
    model: string | undefined,
    context: AskContext,
  ): Promise<readonly TokenizationView[] | Unknown>;
  /** The engine's own list; asking loads and wakes nothing. */
  models(context: AskContext): Promise<readonly ServedModel[] | Unknown>;
  /** What forwarded traffic shows: a 503 or a refused connection means that facts may be old when it is back. */
  noteReply(status: number | undefined): void;
  /** The engine's own count against ours; returns what changed in how far the ids are trusted. */
  noteCount(facts: ModelFacts, kind: string, matched: boolean): readonly TrustChange[];
  /**
   * False once the engine's counts have contradicted our ids several times in a row: on routes of this kind, or without
   * one on any.
   */
  idsVerified(facts: ModelFacts, kind?: string): boolean;
  /** True if the engine answers at all; asks nothing that wakes or loads a model. */
  ready(): Promise<{ readonly ready: boolean; readonly reason: string }>;
  close(): Promise<void>;
}
