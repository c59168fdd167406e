/**
 * Reads the events of an SSE stream while its bytes pass by, in whatever chunks they come. Keeps at most one event of
 * bounded size; comments (pings) and fields other than `data` are not reported.
 */
import { createParser, type EventSourceParser } from 'eventsource-parser';

export interface SseReader {
  push(chunk: Buffer): void;
  /** Events that were larger than the bound and therefore not reported. */
  readonly droppedEvents: number;
}

/** What may stand around an event's data (field names, comments) without counting against the bound. */
const fieldCharacters = 1024;
/**
 * @param maxCharacters bound for one event's data, in UTF-16 units
 * @param onData called with the data of each event
 */
export function createSseReader(maxCharacters: number, onData: (data: string) => void): SseReader {
  return new BoundedSseReader(maxCharacters, onData);
}

/** States: reading, or skipping the rest of an event that was too large; a blank line ends the latter. */
class BoundedSseReader implements SseReader {
  readonly #decoder = new TextDecoder();
  /** The last chunk ended with \r: a \n at the start of the next one belongs to it. */
  #endedWithReturn = false;
  readonly #parser: EventSourceParser;
  #isSkipping = false;
  /** While skipping: what came so far ended with a line end, so one more makes the blank line. */
  #endedWithLine = false;
  #dropped = 0;

  constructor(maxCharacters: number, onData: (data: string) => void) {
    this.#parser = createParser({
      maxBufferSize: maxCharacters + fieldCharacters,
      onEvent: ({ data }) => {
        if (data.length <= maxCharacters) onData(data);
        else this.#dropped += 1;
      },
      onError: ({ type }) => {
        if (type !== 'max-buffer-size-exceeded') return;
        this.#dropped += 1;
        this.#isSkipping = true;
      },
    });
  }

  get droppedEvents(): number {
    return this.#dropped;
  }

  push(chunk: Buffer): void {
    const text = this.#withPlainLineEnds(this.#decoder.decode(chunk, { stream: true }));
    if (text === '') return;
    if (this.#isSkipping) this.#skip(text);
    else this.#feed(text);
  }

  /** \n for all three line ends of SSE: the parser holds a \r back until it has seen another line end. */
  #withPlainLineEnds(text: string): string {
    if (text === '' || (!this.#endedWithReturn && !text.includes('\r'))) return text;
    const rest = this.#endedWithReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#endedWithReturn = text.endsWith('\r');
    return rest.replaceAll(/\r\n?/g, '\n');
  }

  #feed(text: string): void {
    this.#parser.feed(text);
    this.#endedWithLine = text.endsWith('\n');
  }

  #skip(text: string): void {
    const closes = this.#endedWithLine && text.startsWith('\n');
    const blank = text.indexOf('\n\n');
    if (!closes && blank === -1) {
      this.#endedWithLine = text.endsWith('\n');
      return;
    }
    this.#isSkipping = false;
    this.#parser.reset();
    this.#feed(text.slice(closes ? 1 : blank + 2));
  }
}
