// Findings as the server tells them, sorted for whoever shows them: first by the request they belong to, later each as
// it comes. Findings come beside the replies, not with them, so that taking them means waiting.
import { EventEmitter, once } from 'node:events';
import type { FindingRecord } from '../exchange/finding-record.ts';

export class FindingInbox {
  readonly #arrivals = new EventEmitter();
  #records: FindingRecord[] = [];
  #show: ((record: FindingRecord) => void) | undefined;

  add(record: FindingRecord): void {
    if (this.#show === undefined) this.#records.push(record);
    else this.#show(record);
    this.#arrivals.emit('finding');
  }

  /** The request's findings, once there are `atLeast` of them or the signal gives up waiting; each is given once. */
  async take(requestId: string, atLeast: number, giveUp: AbortSignal): Promise<FindingRecord[]> {
    const isWanted = (record: FindingRecord): boolean => record.requestId === requestId;
    while (this.#records.filter(isWanted).length < atLeast && !giveUp.aborted) {
      await once(this.#arrivals, 'finding', { signal: giveUp }).catch((error: unknown) => {
        if (!giveUp.aborted) throw error;
      });
    }
    const taken = this.#records.filter(isWanted);
    this.#records = this.#records.filter((record) => !isWanted(record));
    return taken;
  }

  /** From now on each finding is shown as it comes, after those that nobody took. */
  goLive(show: (record: FindingRecord) => void): void {
    this.#show = show;
    for (const record of this.#records.splice(0)) show(record);
  }
}
