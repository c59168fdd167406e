/**
 * Read, ask, find the session: the stages that fill an exchange with what is known. Each ends in knowledge or in a
 * reason; none rejects, none decides.
 */
import { isExempt } from '../config/effective.ts';
import type { Config } from '../config/schema.ts';
import type { AskContext, Engine, PromptReading } from '../engines/engine.ts';
import type { Exchange, InspectionResult } from '../exchange/exchange.ts';
import type { IncomingRequest } from '../exchange/inspection.ts';
import { readableKinds, type RequestKind } from '../exchange/request/request-reader.ts';
import type { GenerationRequest, RequestReading } from '../exchange/request/request.ts';
import type { Route } from '../exchange/request/route.ts';
import type { HeadRead, TokenRead, UnknownReason } from '../exchange/token-read.ts';
import type { InspectionStage } from '../metrics/label-sets.ts';
import type { SessionMemory } from './session-memory.ts';

export interface StageDependencies {
  readonly engine: Engine;
  readonly read: (body: Buffer, kind: RequestKind) => Promise<RequestReading>;
  readonly memory: SessionMemory;
  readonly onStage: (stage: InspectionStage, seconds: number, exchange: Exchange) => void;
  /** Told of what went wrong inside the inspection; the exchange goes on as unknown. */
  readonly onFailure: (error: unknown, exchange: Exchange) => void;
}

/** The two moments that a verdict can wait for. Neither promise ever rejects. */
export interface Stages {
  /** Facts and heads are filled, or the reason why not. */
  readonly head: Promise<InspectionResult>;
  /** Ids and session too. */
  readonly whole: Promise<InspectionResult>;
  /** Reads a repaired body as if the client had sent it; the exchange stays as it is until it is adopted. */
  readonly reread: (body: Buffer) => Promise<Rereading | undefined>;
}

/** A repaired request, read anew but not yet the exchange's own. */
export interface Rereading {
  readonly request: GenerationRequest;
  readonly heads: readonly HeadRead[];
  readonly prompts: () => Promise<readonly TokenRead[]>;
  /** Makes it the exchange's request; resolves when its ids and session are filled. Never rejects. */
  readonly adopt: () => Promise<InspectionResult>;
}

interface StageInput {
  readonly exchange: Exchange;
  readonly incoming: IncomingRequest;
  readonly config: Config;
  readonly context: AskContext;
}

const ok: InspectionResult = { result: 'ok' };

export function runStages(input: StageInput, dependencies: StageDependencies): Stages {
  const fail = (error: unknown): InspectionResult => {
    dependencies.onFailure(error, input.exchange);
    return stopped('inspection-failed');
  };
  const reading = readHead(input, dependencies).catch(fail);
  const readOn = (prompts: PromptReading): Promise<InspectionResult> =>
    readWhole(input, prompts, dependencies).catch(fail);
  return {
    head: reading.then((read) => ('result' in read ? read : ok)),
    whole: reading.then((read) => ('result' in read ? read : readOn(read))),
    reread: async (body) => {
      const { exchange, context } = input;
      const kind = readableKind(exchange.route);
      if (kind === undefined || exchange.facts === undefined) return undefined;
      const read = await dependencies.read(body, kind);
      if (!read.readable) return undefined;
      const prompts = dependencies.engine.read(read.request, exchange.facts, context);
      const heads = await prompts.heads();
      return {
        request: read.request,
        heads,
        prompts: () => prompts.prompts(),
        adopt: () => {
          exchange.request = read.request;
          exchange.heads = heads;
          // Until its own are known; those of the request that it replaces are not what the engine gets.
          exchange.prompts = [];
          delete exchange.session;
          delete exchange.reusableTokens;
          return readOn(prompts);
        },
      };
    },
  };
}

/** @returns the reading to go on with, or why the inspection ends here. */
async function readHead(
  { exchange, incoming, config, context }: StageInput,
  { engine, read, onStage }: StageDependencies,
): Promise<PromptReading | InspectionResult> {
  const { body, route } = incoming;
  if (typeof body === 'string') return stopped(body);
  const kind = readableKind(route);
  if (kind === undefined) return stopped('route-not-inspected');
  const who = {
    route: route.kind,
    ...(exchange.client.name !== undefined && { client: exchange.client.name }),
  };
  if (isExempt(config, who)) return stopped('exempt');

  const timed = stopwatch();
  const reading = await read(body, kind);
  onStage('read', timed(), exchange);
  if (!reading.readable) {
    return stopped(reading.reason === 'too-much-text' ? 'body-too-large' : 'unreadable-body');
  }
  exchange.request = reading.request;

  const asked = stopwatch();
  const modelsAreExempt = config.inspection.exempt.some(({ model }) => model !== undefined);
  // Where models are exempt, nothing is asked before it is known which one this is for.
  const factsRead = await engine.facts(
    reading.request.model,
    context,
    modelsAreExempt ? undefined : reading.request,
  );
  if (!factsRead.known) return stopped(factsRead.reason);
  exchange.facts = factsRead.facts;
  exchange.modelName = factsRead.facts.modelName;
  const modelKind = config.models[exchange.modelName]?.kind;
  if (modelKind !== undefined) exchange.modelKind = modelKind;
  if (isExempt(config, { ...who, model: exchange.modelName })) return stopped('exempt');
  const prompts = engine.read(reading.request, factsRead.facts, context);
  exchange.heads = await prompts.heads();
  onStage('ask', asked(), exchange);
  return prompts;
}

async function readWhole(
  { exchange, incoming }: StageInput,
  reading: PromptReading,
  { memory, onStage }: StageDependencies,
): Promise<InspectionResult> {
  const { request } = exchange;
  const asked = stopwatch();
  const prompts = await reading.prompts();
  // A repaired request has taken this one's place meanwhile: these ids are not what the engine gets.
  if (exchange.request !== request) return ok;
  exchange.prompts = prompts;
  onStage('ask', asked(), exchange);
  const searched = stopwatch();
  await memory.find(exchange, incoming.headers);
  onStage('session', searched(), exchange);
  const missing = prompts.find((prompt) => !prompt.known);
  return missing === undefined ? ok : stopped(missing.reason);
}

function readableKind({ kind, inspected }: Route): RequestKind | undefined {
  return inspected ? readableKinds.find((readable) => readable === kind) : undefined;
}

function stopped(reason: UnknownReason): InspectionResult {
  return { result: 'unknown', reason };
}

/** @returns a function that tells the seconds since. */
export function stopwatch(): () => number {
  const started = performance.now();
  return () => (performance.now() - started) / 1000;
}
