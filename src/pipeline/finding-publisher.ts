/** Tells the log and the findings API of each finding once, with the masked tokens around it. */
import type { Config } from '../config/schema.ts';
import type { Engine } from '../engines/engine.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { recordFinding, type FindingRecord, type MaskedWindow } from '../exchange/finding-record.ts';
import type { Finding } from '../exchange/finding.ts';
import { comparedWindowIds, maskWindow, windowIds, type WindowIds } from './masked-window.ts';

export interface FindingPublisherParts {
  readonly engine: Engine;
  /** Random per process; keys the pseudonyms of ids. */
  readonly digestKey: Uint8Array;
  readonly onRecord: (record: FindingRecord) => void;
  /** For questions about the texts of ids: the operator's, who asked to see them. */
  readonly credentials: () => Readonly<Record<string, string>>;
}

/** Ids around a finding, and around the same place of what it compares the prompt with. */
interface FoundIds {
  readonly here: WindowIds;
  readonly compared?: WindowIds;
}

export class FindingPublisher {
  readonly #parts: FindingPublisherParts;
  readonly #published = new WeakSet<Finding>();
  /** Ids around findings as they were found: a repair replaces the exchange's own. */
  readonly #found = new WeakMap<Finding, FoundIds>();
  /** Findings whose texts the engine is being asked for. */
  readonly #telling = new Set<Promise<void>>();

  constructor(parts: FindingPublisherParts) {
    this.#parts = parts;
  }

  keepWindows(exchange: Exchange): void {
    for (const finding of exchange.findings) {
      const found = this.#found.has(finding) ? undefined : foundIds(exchange, finding);
      if (found !== undefined) this.#found.set(finding, found);
    }
  }

  /** Findings that were told already are not told again. */
  publish(exchange: Exchange, config: Config): void {
    const at = new Date();
    for (const finding of exchange.findings) {
      if (this.#published.has(finding)) continue;
      this.#published.add(finding);
      const found = this.#found.get(finding) ?? foundIds(exchange, finding);
      if (found === undefined) this.#parts.onRecord(recordFinding(exchange, finding, at));
      else if (config.privacy.showText) this.#tellWithText(exchange, finding, at, found);
      else this.#tell(exchange, finding, at, found);
    }
  }

  /** Resolves once everything that was published so far has been told. */
  async told(): Promise<void> {
    await Promise.all(this.#telling);
  }

  /** @param pieces texts of the ids here, then of what it is compared with */
  #tell(
    exchange: Exchange,
    finding: Finding,
    at: Date,
    found: FoundIds,
    pieces: readonly string[] = [],
  ): void {
    const { here, compared } = found;
    const masked = (window: WindowIds, texts: readonly string[]): MaskedWindow =>
      maskWindow(window, exchange, this.#parts.digestKey, texts);
    const window = masked(here, pieces);
    const other = compared && masked(compared, pieces.slice(here.ids.length));
    this.#parts.onRecord(recordFinding(exchange, finding, at, window, other));
  }

  /** Only where the operator chose to see text. Never holds a request up. */
  #tellWithText(exchange: Exchange, finding: Finding, at: Date, found: FoundIds): void {
    const telling = this.#askForText(exchange, finding, at, found).finally(() => {
      this.#telling.delete(telling);
    });
    this.#telling.add(telling);
  }

  /** The engine says what the ids stand for. */
  async #askForText(exchange: Exchange, finding: Finding, at: Date, found: FoundIds): Promise<void> {
    const { engine, credentials } = this.#parts;
    let pieces: readonly string[] = [];
    try {
      if (exchange.facts !== undefined) {
        const ids = [...found.here.ids, ...(found.compared?.ids ?? [])];
        pieces = await engine.pieces(ids, exchange.facts, {
          credentials: credentials(),
          signal: new AbortController().signal,
        });
      }
    } finally {
      this.#tell(exchange, finding, at, found, pieces);
    }
  }
}

function foundIds(exchange: Exchange, finding: Finding): FoundIds | undefined {
  const here = windowIds(exchange, finding);
  const compared = here && comparedWindowIds(exchange, finding);
  return here && { here, ...(compared && { compared }) };
}
