/** Events of the engine, not of one exchange: told once each, to the metrics and to the log. */
import type { EngineEvent } from '../engines/engine.ts';
import type { Meter } from '../metrics/meter-type.ts';

export interface EventLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const quiet: ReadonlySet<EngineEvent['event']> = new Set([
  'facts-learnt',
  'ids-verified',
  'oracle-available',
]);

export function engineEventReporter(meter: Meter, log: EventLog): (event: EngineEvent) => void {
  return (event) => {
    switch (event.event) {
      case 'facts-learnt':
        meter.modelInfo(event.facts);
        meter.idsVerified(event.facts.modelName, true);
        break;
      case 'facts-changed':
        meter.factsChange(event.modelName, event.what);
        break;
      case 'ids-unverified':
        meter.idsVerified(event.modelName, false);
        break;
      case 'ids-verified': // Of one route: whether those of all are is metered as each exchange settles.
      case 'memoising-off':
      case 'oracle-unavailable':
      case 'oracle-available':
        break;
    }
    log[quiet.has(event.event) ? 'info' : 'warn'](fieldsOf(event), messages[event.event]);
  };
}

const messages: Readonly<Record<EngineEvent['event'], string>> = {
  'facts-learnt': 'model facts learnt',
  'facts-changed': 'the engine serves the model differently than before',
  'ids-unverified':
    "the engine's own token counts contradict ours: strict mode does not block on this route of this model",

  'ids-verified': "the engine's own token counts agree with ours again",
  'memoising-off':
    'token ids differ from whole tokenization: prompts of this model are tokenized whole from now on',
  'oracle-unavailable': 'the engine does not answer questions: requests pass uninspected',
  'oracle-available': 'the engine answers questions again',
};

/** Facts are logged as what an operator compares, not with all their markers. */
function fieldsOf(event: EngineEvent): object {
  if (event.event !== 'facts-learnt') return event;
  const { modelName, engine, build, templateHash, addedPrefix, markers, contextTokens, slots } = event.facts;
  return {
    event: event.event,
    model: modelName,
    engine,
    build,
    templateHash,
    addsBos: addedPrefix.completion.length > 0,
    markers: markers.length,
    contextTokens,
    slots,
  };
}
