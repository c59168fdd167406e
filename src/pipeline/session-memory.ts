/**
 * What the pipeline remembers of conversations: looks for the session while a request waits, and keeps the turn as
 * soon as the engine has it in its cache. The store behind it decides what is an ancestor.
 */
import { writtenAttribution } from '../exchange/request/attribution-line.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { bringsMedia } from '../exchange/request/media-parts.ts';
import type { Turn } from '../exchange/session-match.ts';
import type { KnownTokens } from '../exchange/token-read.ts';
import type { LookupSource } from '../metrics/label-sets.ts';
import type { RequestDigester } from '../sessions/digest.ts';
import { readSessionKey, type RequestHeaders } from '../sessions/identity.ts';
import type { SessionQuery, SessionStore } from '../sessions/store.ts';
import { digestRequest, saltOf, turnOf } from '../sessions/turn.ts';
import { reusableTokens } from '../tokens/common-prefix.ts';

export interface SessionMemoryOptions {
  readonly store: SessionStore;
  readonly digester: RequestDigester;
  readonly onLookup: (source: LookupSource) => void;
  /** Told once of each exchange whose turn is kept. */
  readonly onTurn?: (exchange: Exchange) => void;
}

export class SessionMemory {
  readonly #options: SessionMemoryOptions;
  /** What each exchange looked for, until it is over. */
  readonly #queries = new WeakMap<Exchange, SessionQuery>();
  readonly #remembered = new WeakSet<Exchange>();
  readonly #noted = new WeakSet<Exchange>();

  constructor(options: SessionMemoryOptions) {
    this.#options = options;
  }

  /** Fills `exchange.session`; a request with several prompts, or with unknown ids, belongs to none. */
  async find(exchange: Exchange, headers: RequestHeaders): Promise<void> {
    const known = onlyPrompt(exchange);
    if (known === undefined) return;
    const { request, facts } = exchange;
    if (request === undefined || facts === undefined) return;
    const key = readSessionKey(headers, request);
    const digest = digestRequest(request, known, facts, this.#options.digester);
    const salt = saltOf(request, facts, this.#options.digester);
    const query: SessionQuery = {
      model: exchange.modelName,
      client: exchange.client.pseudonym,
      ids: known.ids,
      ...(key !== undefined && { key }),
      ...(digest !== undefined && { digest }),
      ...(salt !== undefined && { salt }),
    };
    const match = await this.#options.store.lookup(query);
    this.#queries.set(exchange, query);
    exchange.session = match;
    // What else media put among the ids, and whether they are the same media, is not told by these.
    if (bringsMedia(request)) return;
    exchange.reusableTokens = reusableTokens(match.commonTokens, known.ids.length, facts.cacheBlockTokens);
  }

  /** Counts how the exchange found its session, once: a repaired request has looked again, and that is what counts. */
  noteFound(exchange: Exchange): void {
    const { session } = exchange;
    if (session === undefined || this.#noted.has(exchange)) return;
    this.#noted.add(exchange);
    this.#options.onLookup(session.ancestor === undefined ? 'new' : session.keySource);
  }

  /** Keeps the turn; once the generated ids are known it may be called again to add them. */
  async remember(exchange: Exchange): Promise<void> {
    const query = this.#queries.get(exchange);
    const known = onlyPrompt(exchange);
    const { request, session, facts, reply } = exchange;
    if (query === undefined || known === undefined || request === undefined) return;
    if (session === undefined || facts === undefined) return;
    const generated = reply?.choices.length === 1 ? reply.choices[0]?.generatedIds : undefined;
    if (this.#remembered.has(exchange) && generated === undefined) return;
    if (!this.#remembered.has(exchange)) this.#options.onTurn?.(exchange);
    this.#remembered.add(exchange);
    const { salt } = query;
    const turn = {
      ...turnOf(session, request, known, facts, generated),
      ...attributionOf(exchange),
      ...(salt !== undefined && { salt }),
    };
    await this.#options.store.remember(query, session, turn);
  }
}

/** What the next turn's attribution line is compared with. */
function attributionOf({ request, sent }: Exchange): Pick<Turn, 'attributionLine' | 'sent'> {
  const attributionLine = request?.kind === 'chat' ? writtenAttribution(request) : undefined;
  return {
    ...(attributionLine !== undefined && { attributionLine }),
    ...(sent?.ids && { sent: sent.ids }),
  };
}

function onlyPrompt({ prompts }: Exchange): KnownTokens | undefined {
  const [only] = prompts;
  return prompts.length === 1 && only?.known === true ? only : undefined;
}
