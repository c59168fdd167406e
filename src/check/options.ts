/** What a check is to be made with. Types only. */
import type { Config } from '../config/schema.ts';
import type { AskContext, Engine } from '../engines/engine.ts';

export interface AskedEngine {
  readonly engine: Engine;
  readonly context: AskContext;
}

export interface CheckOptions {
  readonly config: Config;
  /** Absent: recordings alone are checked, and on what they hold alone. */
  readonly asked?: AskedEngine;
  /** Requests are turns of the conversation of this name, in their order; absent: each stands alone. */
  readonly session?: string;
  /** Random per run. */
  readonly digestKey: Uint8Array;
  readonly onFailure: (error: unknown) => void;
}
