/** Events of the engine, not of one exchange: told once each, to the metrics, the log and the events API. */
import type { EngineEvent, EngineEventName, EventRecord } from '../exchange/engine-event.ts';
import type { Meter } from '../metrics/meter-type.ts';

export interface EventLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EngineEventSinks {
  readonly meter: Meter;
  readonly log: EventLog;
  readonly onRecord: (record: EventRecord) => void;
}

export function engineEventReporter({
  meter,
  log,
  onRecord,
}: EngineEventSinks): (event: EngineEvent) => void {
  return (event) => {
    count(event, meter);
    const record = recordEvent(event, new Date());
    onRecord(record);
    log[record.trouble ? 'warn' : 'info']({ event: record.event, ...record.fields }, record.message);
  };
}

function count(event: EngineEvent, meter: Meter): void {
  meter.engineEvent(event.event);
  switch (event.event) {
    case 'facts-learnt':
      meter.modelInfo(event.facts);
      meter.idsVerified(event.facts.modelName, true);
      break;
    case 'facts-changed':
      meter.factsChange(event.modelName, event.what);
      break;
    case 'engine-cache-lost':
      if (event.reason === 'restart') meter.factsChange(event.modelName, 'restart');
      break;
    case 'ids-unverified':
      meter.idsVerified(event.modelName, false);
      break;
    case 'ids-verified': // Of one route: whether those of all are is metered as each exchange settles.
    case 'memoising-off':
    case 'oracle-unavailable':
    case 'oracle-available':
    case 'slots-oversubscribed':
      break;
  }
}

const quiet: ReadonlySet<EngineEventName> = new Set(['facts-learnt', 'ids-verified', 'oracle-available']);

const messages: Readonly<Record<EngineEventName, string>> = {
  'engine-cache-lost': 'the engine has lost its cache: prompts are evaluated from their start once more',
  'facts-changed': 'the engine serves the model differently than before',
  'facts-learnt': 'model facts learnt',
  'ids-unverified':
    "the engine's own token counts contradict ours: strict mode does not block on this route of this model",
  'ids-verified': "the engine's own token counts agree with ours again",
  'memoising-off':
    'token ids differ from whole tokenization: prompts of this model are tokenized whole from now on',
  'oracle-available': 'the engine answers questions again',
  'oracle-unavailable': 'the engine does not answer questions: requests pass uninspected',
  'slots-oversubscribed':
    'more conversations are under way than the engine has slots: they take the cache from each other',
};

/** Exported for tests. */
export function recordEvent(event: EngineEvent, at: Date): EventRecord {
  return {
    event: event.event,
    time: at.toISOString(),
    trouble: !quiet.has(event.event),
    message: messages[event.event],
    fields: fieldsOf(event),
  };
}

/** Facts are told as what an operator compares, not with all their markers. */
function fieldsOf(event: EngineEvent): EventRecord['fields'] {
  switch (event.event) {
    case 'facts-learnt': {
      const { modelName, engine, build, templateHash, addedPrefix, markers, contextTokens, slots } =
        event.facts;
      return {
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
    case 'facts-changed': {
      const { modelName, what, from, to, lastSeenMs } = event;
      return { model: modelName, what, from, to, lastSeen: new Date(lastSeenMs).toISOString() };
    }
    case 'slots-oversubscribed': {
      const { modelName, slots, sessions, flag } = event;
      const raise = flag === undefined ? {} : { advice: `Raise ${flag} to ${sessions} or more.` };
      return { model: modelName, slots, sessions, ...raise };
    }
    case 'engine-cache-lost':
      return { model: event.modelName, reason: event.reason };
    case 'ids-unverified':
    case 'ids-verified':
      return { model: event.modelName, route: event.route };
    case 'memoising-off':
      return { model: event.modelName };
    case 'oracle-unavailable':
    case 'oracle-available':
      return { reason: event.reason };
  }
}
