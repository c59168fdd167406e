/** What the product may tell the metrics: one method per moment. Types only; no metrics library behind these names. */
import type { EngineEventName } from '../exchange/engine-event.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { OracleName, OracleResult } from '../exchange/oracle.ts';
import type { RouteKind } from '../exchange/request/route.ts';

import type {
  CountCheckResult,
  EvictionReason,
  FactName,
  InspectionStage,
  LookupSource,
  TokenSource,
} from './label-sets.ts';

/** The moments of an exchange. Each finding, reason and prompt is counted once, however many moments see it. */
export interface ExchangeMeter {
  /** Once per exchange, before it is forwarded or answered. */
  beforeForwarding(exchange: Exchange): void;
  /** When an inspection that was `late` has finished: what it found since. Counts no request again. */
  lateInspection(exchange: Exchange): void;
  /**
   * When the exchange has ended; `outcome` is set by then, `reply` if there was one.
   * @param countChecks our prompt count against the engine's; one result per reply that was compared.
   */
  settled(exchange: Exchange, countChecks: readonly CountCheckResult[]): void;
}

/** Ids of the request behind a measurement, for its exemplar. */
export type RequestIds = Pick<Exchange, 'id' | 'traceId'>;

export interface MachineryMeter {
  /** Makes a model's series appear at 0. Done by itself for every model that is counted. */
  initialiseModel(modelName: string): void;
  oracleRequest(oracle: OracleName, result: OracleResult): void;
  tokenizedTokens(source: TokenSource, tokens: number): void;
  inspectionDuration(stage: InspectionStage, seconds: number, request?: RequestIds): void;
  timeToFirstByte(route: RouteKind, seconds: number, request?: RequestIds): void;
  /** The amount now, not the change. */
  heldBytes(bytes: number): void;
  /** The number now, not the change. */
  inFlight(requests: number): void;
  eventLoopLag(seconds: number): void;
  /** The numbers now, not the change. */
  sessions(count: number, bytes: number): void;
  sessionLookup(source: LookupSource): void;
  sessionEviction(reason: EvictionReason, turns?: number): void;
  rejectionsSuspended(suspended: boolean): void;
  upstreamUp(up: boolean): void;
  /** Replaces the model's `model_info` series; under the label of all models beyond the cap there is none. */
  modelInfo(facts: ModelFacts): void;
  engineEvent(event: EngineEventName): void;
  factsChange(modelName: string, what: FactName): void;
  idsVerified(modelName: string, verified: boolean): void;
  /** @param atMs when the load ended, in milliseconds since 1970; kept only if it succeeded. */
  configReload(successful: boolean, atMs: number): void;
  buildInfo(version: string, nodeVersion: string): void;
}

export interface Meter extends ExchangeMeter, MachineryMeter {}
