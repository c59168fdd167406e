/** The end of an exchange: the engine's own counts against ours, reply-stage findings, metrics, and the turn's memory. */
import type { Engine } from '../engines/engine.ts';
import type { Config } from '../config/schema.ts';
import { checkCounts } from '../detectors/count-check.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Meter } from '../metrics/meter-type.ts';
import type { Judge } from './judge.ts';
import type { SessionMemory } from './session-memory.ts';

export interface SettleDependencies {
  readonly engine: Engine;
  readonly memory: SessionMemory;
  readonly meter: Meter;
  readonly judge: Judge;
  readonly config: Config;
  readonly onFailure: (error: unknown, exchange: Exchange) => void;
  /** Told of each exchange once all is known of it, ids that nothing may print among it. */
  readonly onSettled?: (exchange: Exchange) => void;
}

/** Called once, when the reply has ended and the stages are done, in whichever order. */
export async function settle(dependencies: SettleDependencies, exchange: Exchange): Promise<void> {
  const { engine, memory, meter, judge, config, onSettled } = dependencies;
  const { facts, reply, route } = exchange;
  const checks = reply?.complete === true && exchange.action !== 'reject' ? [checkCounts(exchange)] : [];
  if (facts !== undefined) {
    for (const check of checks) {
      if (check.result === 'match') engine.noteCount(facts, route.kind, true);
      // That the engine cut a prompt says nothing against the ids of the whole.
      else if (check.result === 'mismatch' && check.differences.some(({ truncated }) => !truncated)) {
        engine.noteCount(facts, route.kind, false);
      }
    }
    meter.idsVerified(exchange.modelName, engine.idsVerified(facts));
  }
  judge.settled(exchange, config);
  meter.settled(
    exchange,
    checks.map(({ result }) => result),
  );
  onSettled?.(exchange);
  if (reply?.started === true) await memory.remember(exchange);
}
