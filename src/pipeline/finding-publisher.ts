/** Tells the log and the findings API of each finding once, with the masked tokens around it. */
import type { Config } from '../config/schema.ts';
import type { Engine } from '../engines/engine.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { recordFinding, type FindingRecord } from '../exchange/finding-record.ts';
import type { Finding } from '../exchange/finding.ts';
import { maskWindow, windowIds, type WindowIds } from './masked-window.ts';

export interface FindingPublisherParts {
  readonly engine: Engine;
  /** Random per process; keys the pseudonyms of ids. */
  readonly digestKey: Uint8Array;
  readonly onRecord: (record: FindingRecord) => void;
  /** For questions about the texts of ids: the operator's, who asked to see them. */
  readonly credentials: () => Readonly<Record<string, string>>;
}

export class FindingPublisher {
  readonly #parts: FindingPublisherParts;
  readonly #published = new WeakSet<Finding>();
  /** Ids around findings as they were found: a repair replaces the exchange's own. */
  readonly #windows = new WeakMap<Finding, WindowIds>();

  constructor(parts: FindingPublisherParts) {
    this.#parts = parts;
  }

  keepWindows(exchange: Exchange): void {
    for (const finding of exchange.findings) {
      const window = windowIds(exchange, finding);
      if (window !== undefined) this.#windows.set(finding, window);
    }
  }

  /** Findings that were told already are not told again. */
  publish(exchange: Exchange, config: Config): void {
    const at = new Date();
    for (const finding of exchange.findings) {
      if (this.#published.has(finding)) continue;
      this.#published.add(finding);
      const window = this.#windows.get(finding) ?? windowIds(exchange, finding);
      if (window === undefined) this.#parts.onRecord(recordFinding(exchange, finding, at));
      else if (config.privacy.showText) void this.#publishWithText(exchange, finding, at, window);
      else this.#tell(exchange, finding, at, window);
    }
  }

  #tell(exchange: Exchange, finding: Finding, at: Date, window: WindowIds, pieces?: readonly string[]): void {
    const masked = maskWindow(window, exchange, this.#parts.digestKey, pieces);
    this.#parts.onRecord(recordFinding(exchange, finding, at, masked));
  }

  /** Only where the operator chose to see text: the engine says what the ids stand for. Never holds a request up. */
  async #publishWithText(exchange: Exchange, finding: Finding, at: Date, window: WindowIds): Promise<void> {
    const { engine, credentials } = this.#parts;
    let pieces: readonly string[] = [];
    try {
      if (exchange.facts !== undefined) {
        pieces = await engine.pieces(window.ids, exchange.facts, {
          credentials: credentials(),
          signal: new AbortController().signal,
        });
      }
    } finally {
      this.#tell(exchange, finding, at, window, pieces);
    }
  }
}
