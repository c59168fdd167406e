/** From an upstream's address to an engine that can be asked: the client and the adapters, tied together. */
import type { EngineEvent } from '../exchange/engine-event.ts';
import type { OracleName, OracleResult } from '../exchange/oracle.ts';

import type { Engine } from './engine.ts';
import { openEngine, type EngineKind } from './index.ts';
import { OracleClient } from './oracle/oracle-client.ts';

export interface ConnectOptions {
  readonly kind: EngineKind;
  readonly address: {
    readonly origin: string;
    /** '' or a path that starts with a slash and ends with none. */
    readonly basePath: string;
    readonly socketPath?: string;
  };
  readonly tls: { readonly ca?: string; readonly rejectUnauthorized: boolean };
  /** Asked at every call: a reload reaches the next one. */
  readonly limits: () => { readonly oracleConcurrency: number; readonly oracleTimeoutMs: number };
  readonly segmentCacheBytes: number;
  /** Random per process. */
  readonly digestKey: Uint8Array;
  readonly onEvent?: (event: EngineEvent) => void;
  readonly onAnswer?: (oracle: OracleName, result: OracleResult) => void;
  readonly onTokenized?: (source: 'cache' | 'engine' | 'check', tokens: number) => void;
  readonly onRecognised?: (kind: string) => void;
}

/** Connects to nothing yet: the first question does. */
export function connectEngine(options: ConnectOptions): Engine {
  const { address, limits, onAnswer, onEvent, onTokenized, onRecognised } = options;
  const client = new OracleClient({
    ...address,
    tls: options.tls,
    concurrency: () => limits().oracleConcurrency,
    timeoutMs: () => limits().oracleTimeoutMs,
    onAnswer: (oracle, result) => onAnswer?.(oracle, result),
    onUnavailable: (unavailable, reason) => {
      onEvent?.({ event: unavailable ? 'oracle-unavailable' : 'oracle-available', reason });
    },
  });
  return openEngine({
    kind: options.kind,
    client,
    segmentCacheBytes: options.segmentCacheBytes,
    digestKey: options.digestKey,
    onEvent: (event) => onEvent?.(event),
    onTokenized: (source, tokens) => onTokenized?.(source, tokens),
    ...(onRecognised === undefined ? {} : { onRecognised }),
  });
}
