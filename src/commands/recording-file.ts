/**
 * A recording that grows while the proxy runs. It holds prompts, so it is a new file that its owner alone may read. A disk
 * that is full or slow ends or thins the recording, never the traffic.
 */
import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import { resolve } from 'node:path';

import { fileProblem } from '../config/file-problem.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { recordExchange, RecordingFormat } from '../exchange/recording/recording-writer.ts';

/** What may wait for the disk (bytes): exchanges beyond it are left out. */
const mostWaiting = 64 * 1024 * 1024;

export interface RecordingCounts {
  readonly recorded: number;
  /** Exchanges of which nothing was known, or that the disk was too slow for. */
  readonly leftOut: number;
}

export class RecordingFile {
  readonly #stream: WriteStream;
  readonly #format = new RecordingFormat();
  #failed = false;
  #recorded = 0;
  #leftOut = 0;

  private constructor(stream: WriteStream, writtenBy: string, onFailure: (error: Error) => void) {
    this.#stream = stream;
    stream.on('error', (error) => {
      this.#failed = true;
      onFailure(error);
    });
    stream.write(this.#format.start(writtenBy));
  }

  /**
   * @param onFailure told once, when nothing more can be written
   * @returns in words why there can be no such file, if so
   */
  static open(
    name: string,
    cwd: string,
    writtenBy: string,
    onFailure: (error: Error) => void,
  ): RecordingFile | string {
    try {
      const fd = openSync(resolve(cwd, name), 'wx', 0o600);
      return new RecordingFile(createWriteStream('', { fd }), writtenBy, onFailure);
    } catch (error) {
      const problem = fileProblem(error, 'written');
      if (problem === undefined) throw error;
      return `--record is ${JSON.stringify(name)}, which ${problem}; allowed: the name of a new file`;
    }
  }

  add(exchange: Exchange): void {
    const isFull = this.#failed || this.#stream.writableLength > mostWaiting;
    const entry = isFull ? undefined : entryOf(exchange);
    if (entry === undefined) {
      this.#leftOut += 1;
      return;
    }
    this.#stream.write(this.#format.add(entry));
    this.#recorded += 1;
  }

  /** Once everything is written, or can't be. */
  close(): Promise<RecordingCounts> {
    const counts = { recorded: this.#recorded, leftOut: this.#leftOut };
    if (this.#failed) return Promise.resolve(counts);
    return new Promise((done) => {
      this.#stream.once('close', () => {
        done(counts);
      });
      this.#stream.end();
    });
  }
}

function entryOf(exchange: Exchange): ReturnType<typeof recordExchange> {
  const { session, receivedAtMs } = exchange;
  const isNamed = session !== undefined && session.keySource !== 'ancestor';
  return recordExchange(exchange, new Date(receivedAtMs), isNamed ? session.session : undefined);
}
