/**
 * The small HTTP client that all adapters ask their engine with. It protects the engine: calls are capped in number,
 * have a deadline, and stop behind a circuit breaker. It never retries a generation, because it never makes one.
 */
import { Agent, errors } from 'undici';

import type { Json } from '../../exchange/request/request.ts';
import type { OracleName, OracleResult } from '../../exchange/oracle.ts';
import { unknown, type Unknown, type UnknownReason } from '../../exchange/token-read.ts';

import { mostAnswerBytes, readBounded } from './bounded-answer.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

export type OracleAnswer =
  | { readonly known: true; readonly status: number; readonly json: Json }
  | (Unknown & { readonly json?: Json });

export interface OracleQuestion {
  readonly oracle: OracleName;
  readonly method: 'GET' | 'POST';
  /** Path with query, below the upstream's base path. */
  readonly path: string;
  readonly body?: string | Buffer;
  /** True for an answer that is no JSON: it is given as one string. */
  readonly plainText?: boolean;
  /** `authorization`, `x-api-key`: the client's own, else the operator's. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Ends the call early; the engine then sees the connection close. */
  readonly signal?: AbortSignal;
}

export interface OracleClientOptions {
  readonly origin: string;
  readonly basePath: string;
  readonly socketPath?: string;
  readonly tls: { readonly ca?: string; readonly rejectUnauthorized: boolean };
  readonly concurrency: () => number;
  readonly timeoutMs: () => number;
  readonly onAnswer?: (oracle: OracleName, result: OracleResult, seconds: number) => void;
  /** Told when the breaker opens (true) and closes again. */
  readonly onUnavailable?: (unavailable: boolean, reason: UnknownReason) => void;
}

export class OracleClient {
  readonly #agent: Agent;
  readonly #options: OracleClientOptions;
  readonly #breaker: CircuitBreaker;
  #running = 0;
  #connections = 0;
  readonly #queue: (() => void)[] = [];

  constructor(options: OracleClientOptions) {
    this.#options = options;
    this.#breaker = new CircuitBreaker({
      onChange: (open, reason) => options.onUnavailable?.(open, reason),
    });
    this.#agent = new Agent({
      // llama-server closes idle sockets after 5 s; a helper call that still hits a closed one is repeated once below.
      keepAliveTimeout: 2000,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: 3000,
        rejectUnauthorized: options.tls.rejectUnauthorized,
        ...(options.tls.ca === undefined ? {} : { ca: options.tls.ca }),
        ...(options.socketPath === undefined ? {} : { socketPath: options.socketPath }),
      },
    });
    this.#agent.on('connect', () => {
      this.#connections += 1;
    });
    this.#agent.on('disconnect', () => {
      this.#connections -= 1;
    });
  }

  /** Never rejects: what went wrong is the answer's reason. */
  async ask(question: OracleQuestion): Promise<OracleAnswer> {
    const barred = this.#breaker.barred();
    if (barred !== undefined) {
      this.#options.onAnswer?.(question.oracle, 'breaker-open', 0);
      return unknown(barred);
    }
    const deadline = AbortSignal.timeout(this.#options.timeoutMs());
    const signal = question.signal === undefined ? deadline : AbortSignal.any([deadline, question.signal]);
    const started = performance.now();
    let answer: OracleAnswer;
    try {
      await this.#enter(signal);
      try {
        answer = await this.#send(question, signal);
      } finally {
        this.#leave();
      }
    } catch (error) {
      answer = unknown(
        deadline.aborted ? 'oracle-timeout' : signal.aborted ? 'budget-exhausted' : reasonOf(error),
      );
    }
    this.#breaker.note(answer.known ? undefined : answer.reason);
    this.#options.onAnswer?.(question.oracle, resultOf(answer), (performance.now() - started) / 1000);
    return answer;
  }

  /** The engine is known to be back (it answered a request): ask again at once. */
  reachable(): void {
    this.#breaker.note(undefined);
  }

  /**
   * Calls back when a connection to the engine ends, as all do when it does: what answers next may be another. Not for one
   * that we ended ourselves while others stand, for these would have ended with the engine.
   */
  onDisconnect(listener: () => void): void {
    this.#agent.on('disconnect', (_origin, _targets, error) => {
      if (this.#connections === 0 || !isOurEnd(error)) listener();
    });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #send(question: OracleQuestion, signal: AbortSignal): Promise<OracleAnswer> {
    try {
      return await this.#sendOnce(question, signal);
    } catch (error) {
      // A kept-alive socket that the engine closed meanwhile. Asking again is safe: questions change nothing.
      if (!isStaleSocket(error) || signal.aborted) throw error;
      return this.#sendOnce(question, signal);
    }
  }

  async #sendOnce(question: OracleQuestion, signal: AbortSignal): Promise<OracleAnswer> {
    const response = await this.#agent.request({
      origin: this.#options.origin,
      path: this.#options.basePath + question.path,
      method: question.method,
      headers: {
        ...question.credentials,
        ...(question.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(question.body === undefined ? {} : { body: question.body }),
      signal,
    });
    const text = await readBounded(response.body, mostAnswerBytes(question.body));
    if (text === undefined) return { ...unknown('answer-too-large'), status: response.statusCode };
    return readAnswer(
      response.statusCode,
      text,
      question.plainText === true,
      response.headers['retry-after'],
    );
  }

  async #enter(signal: AbortSignal): Promise<void> {
    while (this.#running >= this.#options.concurrency()) {
      await new Promise<void>((resolve, reject) => {
        const giveUp = (): void => {
          // A place in the queue that nobody waits for any more would swallow the next free turn.
          const at = this.#queue.indexOf(proceed);
          if (at >= 0) this.#queue.splice(at, 1);
          reject(new Error('gave up waiting for a place among the oracle calls'));
        };
        const proceed = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        };
        this.#queue.push(proceed);
        if (signal.aborted) giveUp();
        else signal.addEventListener('abort', giveUp, { once: true });
      });
    }
    this.#running += 1;
  }

  #leave(): void {
    this.#running -= 1;
    this.#queue.shift()?.();
  }
}

function readAnswer(
  status: number,
  text: string,
  plainText: boolean,
  again: string | string[] | undefined,
): OracleAnswer {
  if (plainText && status === 200) return { known: true, status, json: text };
  const retryAfter = typeof again === 'string' && again !== '' ? again.slice(0, longestDate) : undefined;
  const failed = (): Unknown => ({
    ...unknown(reasonOfStatus(status, retryAfter)),
    status,
    ...(retryAfter !== undefined && { retryAfter }),
  });
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    // A page, as gateways answer with: what it refuses is told by its status, whatever its words.
    return failed();
  }
  if (status === 200) return { known: true, status, json };
  return { ...failed(), json };
}

/** The longest form of `Retry-After`, an HTTP date (RFC 9110, section 10.2.3). */
const longestDate = 'Sun, 06 Nov 1994 08:49:37 GMT'.length;

/**
 * 503 with `Retry-After` is what gateways limit requests with; neither engine sends it while it loads a model. 529 is what
 * hosted models answer where too much is asked of them.
 */
function reasonOfStatus(status: number, retryAfter: string | undefined): UnknownReason {
  if (status === 429 || status === 529 || (status === 503 && retryAfter !== undefined)) return 'engine-busy';
  if (status === 503) return 'engine-loading';
  return status >= 400 && status < 500 ? 'oracle-refused' : 'oracle-error';
}

function isStaleSocket(error: unknown): boolean {
  return (
    error instanceof errors.SocketError ||
    (error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
  );
}

/** undici's words where it closes a connection that is not needed any more, or whose answer nobody waits for. */
const ourEnds: readonly string[] = ['socket idle timeout', 'aborted'];

function isOurEnd(error: Error): boolean {
  return error instanceof errors.InformationalError && ourEnds.includes(error.message);
}

function reasonOf(error: unknown): UnknownReason {
  if (error instanceof errors.UndiciError || (error instanceof Error && 'code' in error)) {
    return 'engine-unreachable';
  }
  return 'oracle-error';
}

function resultOf(answer: OracleAnswer): OracleResult {
  if (answer.known) return 'ok';
  switch (answer.reason) {
    case 'oracle-refused':
    case 'engine-busy':
      return 'refused';
    case 'oracle-timeout':
    case 'budget-exhausted':
      return 'timeout';
    case 'engine-unreachable':
      return 'unreachable';
    default:
      return 'error';
  }
}
