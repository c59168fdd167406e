/**
 * llama-server's helper endpoints as typed questions (engine-protocols, sections 2.4 to 2.6). In router mode every
 * question names the model and says `autoload=false`, so that asking never loads one.
 */
import type { OracleName } from '../../exchange/oracle.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';
import type { UnknownReason } from '../../exchange/token-read.ts';

import { array, numbers, object, text } from '../oracle/answer-values.ts';
import type { AskContext, ServedModel, TokenizationView, TokenPiece } from '../engine.ts';
import { readProps, readServedModel, type LlamaProps } from './props.ts';
import type { OracleAnswer, OracleClient } from '../oracle/oracle-client.ts';
import { whatWasSaid } from '../oracle/engine-words.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';

/** Between segments in one `/tokenize` call: integers of a mixed array come back as they are (measured on 0.7.0). */
const separator = -1;

interface TokenizeSwitches {
  readonly add_special: boolean;
  readonly parse_special: boolean;
}
const asPrompt: TokenizeSwitches = { add_special: true, parse_special: true };
const asPart: TokenizeSwitches = { add_special: false, parse_special: true };
const asText: TokenizeSwitches = { add_special: false, parse_special: false };

export class LlamaOracle {
  readonly #client: OracleClient;
  /** One call per segment instead of one for all; set if the separator does not come back as sent. */
  separatorWorks = true;

  constructor(client: OracleClient) {
    this.#client = client;
  }

  async props(model: string | undefined, context: AskContext): Promise<LlamaProps> {
    const query = model === undefined ? '' : `?model=${encodeURIComponent(model)}&autoload=false`;
    const answer = await this.#ask('props', 'GET', `/props${query}`, undefined, context);
    return readProps(answer);
  }

  async models(context: AskContext): Promise<ServedModel[]> {
    const answer = object(await this.#ask('models', 'GET', '/models', undefined, context));
    return array(answer['data']).map((item) => readServedModel(object(item)));
  }

  /** What a router says of the model: `loaded`, `sleeping`, `unloaded` and others; undefined if it does not list it. */
  async statusOf(model: string, context: AskContext): Promise<string | undefined> {
    const served = await this.models(context);
    return served.find(({ name, aliases }) => name === model || aliases.includes(model))?.status;
  }

  /** Renders a chat body; the bytes are the client's own. @returns the text after the engine's BOS stripping. */
  async render(body: string | Buffer, routed: boolean, context: AskContext): Promise<string> {
    const path = routed ? '/apply-template?autoload=false' : '/apply-template';
    const answer = object(await this.#ask('apply-template', 'POST', path, body, context));
    if (typeof answer['prompt'] !== 'string') throw new OracleFailure('oracle-error', '/apply-template');
    return answer['prompt'];
  }

  /** Ids of one prompt as the raw route makes them, BOS and EOS included. */
  async tokenizePrompt(
    content: string,
    model: string | undefined,
    context: AskContext,
  ): Promise<Uint32Array> {
    return Uint32Array.from(await this.#tokenize(content, asPrompt, model, context));
  }

  /**
   * Ids of each text on its own, nothing added; one call for all of them.
   * @param parseSpecial false reads control tokens as the text that they are
   */
  async tokenizeMany(
    texts: readonly string[],
    model: string | undefined,
    context: AskContext,
    parseSpecial = true,
  ): Promise<Uint32Array[]> {
    if (texts.length === 0) return [];
    const switches = parseSpecial ? asPart : asText;
    if (texts.length === 1 || !this.separatorWorks) {
      const all = await Promise.all(texts.map((one) => this.#tokenize(one, switches, model, context)));
      return all.map((ids) => Uint32Array.from(ids));
    }
    const flat = await this.#tokenize(separated(texts), switches, model, context);
    const parts = splitAtSeparator(flat);
    if (parts.length !== texts.length) throw new OracleFailure('oracle-error', '/tokenize');
    return parts;
  }

  /** Proves that separators come back as sent and that texts beside them are tokenized on their own. */
  async checkSeparator(model: string | undefined, context: AskContext): Promise<void> {
    const texts = ['a b', ' c', '\n'];
    this.separatorWorks = false;
    const single = await this.tokenizeMany(texts, model, context);
    const mixed = await this.#tokenize(separated(texts), asPart, model, context);
    const parts = splitAtSeparator(mixed);
    this.separatorWorks =
      parts.length === single.length &&
      parts.every((ids, index) => String(ids) === String(single[index] ?? new Uint32Array()));
  }

  async pieces(ids: readonly number[], model: string | undefined, context: AskContext): Promise<string[]> {
    return Promise.all(
      ids.map(async (id) => {
        const body = JSON.stringify({ tokens: [id], ...named(model) });
        const answer = object(
          await this.#ask('detokenize', 'POST', routedPath('/detokenize', model), body, context),
        );
        return text(answer['content']);
      }),
    );
  }

  /** The texts of the control tokens in a text: one id with special parsing, more without. Two calls. */
  async controlTexts(content: string, model: string | undefined, context: AskContext): Promise<string[]> {
    const pieces = (await this.#withPieces(content, asPart, model, context)).map(({ piece }) => piece);
    const texts = [...new Set(pieces.filter((piece) => typeof piece === 'string'))].filter(
      (piece) => piece.length > 1,
    );
    if (texts.length === 0 || !this.separatorWorks) return [];
    const parts = splitAtSeparator(await this.#tokenize(separated(texts), asText, model, context));
    return texts.filter((_text, index) => (parts[index]?.length ?? 0) > 1);
  }

  /** The text under both switches of `/tokenize`, both ways, with the text of each token. */
  async explain(
    content: string,
    model: string | undefined,
    context: AskContext,
  ): Promise<TokenizationView[]> {
    return Promise.all(
      [true, false].flatMap((parseSpecial) =>
        [true, false].map(async (addSpecial) => {
          const options = { parse_special: parseSpecial, add_special: addSpecial };
          const tokens = await this.#withPieces(content, options, model, context);
          return {
            options,
            asPrompt: parseSpecial && addSpecial,
            ids: tokens.map(({ id }) => id),
            pieces: tokens.map(({ piece }) => piece),
          };
        }),
      ),
    );
  }

  async #withPieces(
    content: string,
    options: TokenizeSwitches,
    model: string | undefined,
    context: AskContext,
  ): Promise<{ id: number; piece: TokenPiece }[]> {
    const body = JSON.stringify({ content, ...options, with_pieces: true, ...named(model) });
    const answer = object(await this.#ask('tokenize', 'POST', routedPath('/tokenize', model), body, context));
    return array(answer['tokens']).map((token) => readPiece(object(token)));
  }

  async #tokenize(
    content: string | readonly (string | number)[],
    options: TokenizeSwitches,
    model: string | undefined,
    context: AskContext,
  ): Promise<readonly number[]> {
    const body = JSON.stringify({ content, ...options, ...named(model) });
    const answer = object(await this.#ask('tokenize', 'POST', routedPath('/tokenize', model), body, context));
    const tokens = numbers(answer['tokens']);
    if (tokens === undefined) throw new OracleFailure('oracle-error', '/tokenize');
    return tokens;
  }

  async #ask(
    oracle: OracleName,
    method: 'GET' | 'POST',
    path: string,
    body: string | Buffer | undefined,
    context: AskContext,
  ): Promise<Json> {
    const answer = await this.#client.ask({
      oracle,
      method,
      path,
      ...(body === undefined ? {} : { body }),
      credentials: context.credentials,
      signal: context.signal,
    });
    if (answer.known) return answer.json;
    throw new OracleFailure(refine(answer), path, whatWasSaid(answer));
  }
}

/** A router answers 400 for a model that it would have to load first. */
function refine(answer: OracleAnswer & { known: false }): UnknownReason {
  const message = JSON.stringify(answer.json ?? '');
  return answer.status === 400 && message.includes('model is not loaded')
    ? 'model-not-loaded'
    : answer.reason;
}

/** @throws OracleFailure for an engine that does not know `with_pieces` and answers plain ids. */
function readPiece({ id, piece }: JsonObject): { id: number; piece: TokenPiece } {
  if (typeof id !== 'number') throw new OracleFailure('oracle-error', '/tokenize');
  if (typeof piece === 'string') return { id, piece };
  return { id, piece: array(piece ?? []).filter((byte) => typeof byte === 'number') };
}

function separated(texts: readonly string[]): (string | number)[] {
  return texts.flatMap((one, index) => (index === 0 ? [one] : [separator, one]));
}

function splitAtSeparator(flat: readonly number[]): Uint32Array[] {
  const parts: Uint32Array[] = [];
  let start = 0;
  for (let at = flat.indexOf(separator); at >= 0; at = flat.indexOf(separator, start)) {
    parts.push(Uint32Array.from(flat.slice(start, at)));
    start = at + 1;
  }
  parts.push(Uint32Array.from(flat.slice(start)));
  return parts;
}

function named(model: string | undefined): JsonObject {
  return model === undefined ? {} : { model };
}

function routedPath(path: string, model: string | undefined): string {
  return model === undefined ? path : `${path}?autoload=false`;
}
