/** The newest events of the engine, for the events API and the inspector page. Bounded, in memory only. */
import type { EngineEventName, EventRecord } from '../exchange/engine-event.ts';
import { FairRing } from './fair-ring.ts';

export interface EventsFilter {
  readonly event?: EngineEventName;
  readonly model?: string;
  /** The most records to return. */
  readonly limit: number;
}

/** Events are few; an engine that comes and goes must not wash away that its template has changed. */
const mostKept = 200;

export class EventsRing {
  readonly #ring = new FairRing<EventRecord>(
    () => mostKept,
    ({ event }) => event,
  );

  /** Events seen since the start, kept or not. */
  get seen(): number {
    return this.#ring.seen;
  }

  add(record: EventRecord): void {
    this.#ring.add(record);
  }

  /** Newest first. */
  list({ event, model, limit }: EventsFilter): readonly EventRecord[] {
    return this.#ring.list(
      (record) =>
        (event === undefined || record.event === event) &&
        (model === undefined || record.fields['model'] === model),
      limit,
    );
  }
}
