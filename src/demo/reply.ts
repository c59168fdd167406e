// One HTTP response of the demo engine: headers as llama-server sends them, JSON, server-sent events, and the signal
// that the client has left. The only file that writes to a response.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serverHeader } from './labels.ts';

export class Reply {
  /** Aborts when the client leaves before the reply is complete. */
  readonly signal: AbortSignal;
  readonly #response: ServerResponse;
  readonly #isHead: boolean;

  constructor(request: IncomingMessage, response: ServerResponse) {
    const controller = new AbortController();
    this.signal = controller.signal;
    this.#response = response;
    this.#isHead = request.method === 'HEAD';
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
    });
    response.setHeader('Server', serverHeader);
    response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? '');
  }

  get hasStarted(): boolean {
    return this.#response.headersSent;
  }

  sendJson(status: number, body: object): void {
    this.#end(status, 'application/json; charset=utf-8', JSON.stringify(body));
  }

  /** Answers without a body; `closing` also ends the connection, because the request's body was not read. */
  sendEmpty(status: number, { closing }: { readonly closing: boolean } = { closing: false }): void {
    if (closing) this.#response.setHeader('Connection', 'close');
    this.#end(status, undefined, '');
  }

  /** The answer to any OPTIONS request. */
  sendPreflight(): void {
    this.#response.setHeader('Access-Control-Allow-Credentials', 'true');
    this.#response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS');
    this.#response.setHeader('Access-Control-Allow-Headers', '*');
    this.#end(200, 'text/html', '');
  }

  /** Sends the headers of an event stream; does nothing if they are out already. */
  startEvents(): void {
    if (this.hasStarted) return;
    this.#response.setHeader('X-Accel-Buffering', 'no');
    this.#response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    this.#response.flushHeaders();
  }

  /** Resolves when the client can take more. @throws AbortError if the client leaves meanwhile. */
  async sendEvent(data: object): Promise<void> {
    await this.#write(`data: ${JSON.stringify(data)}\n\n`);
  }

  async endEvents({ withDone }: { readonly withDone: boolean }): Promise<void> {
    if (withDone) await this.#write('data: [DONE]\n\n');
    this.#response.end();
  }

  async #write(text: string): Promise<void> {
    this.signal.throwIfAborted();
    if (!this.#response.write(text)) await once(this.#response, 'drain', { signal: this.signal });
  }

  #end(status: number, contentType: string | undefined, body: string): void {
    if (this.signal.aborted) return;
    this.#response.writeHead(status, {
      ...(contentType !== undefined && { 'Content-Type': contentType }),
      'Content-Length': Buffer.byteLength(body),
    });
    this.#response.end(this.#isHead ? undefined : body);
  }
}
