/**
 * vLLM's helper endpoints as typed questions (engine-protocols, sections 3.4 and 3.7). Which of them a server has depends
 * on its version and flags: what is not there is said as absent, and nothing is concluded from a brand.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { Json } from '../../exchange/request/request.ts';
import type { UnknownReason } from '../../exchange/token-read.ts';

import { count, numbers, object, text } from '../oracle/answer-values.ts';
import type { AskContext } from '../engine.ts';
import type { OracleAnswer, OracleClient, OracleQuestion } from '../oracle/oracle-client.ts';
import { whatWasSaid } from '../oracle/engine-words.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';

/** An entry of `/v1/models`: a served name of the model, or an adapter (LoRA) on it. */
export interface VllmModel {
  readonly name: string;
  /** Folder or hub name of the model or adapter. */
  readonly root: string;
  /** The model that an adapter is for; '' for a model. */
  readonly parent: string;
  /** 0 if not told: adapters have none of their own. */
  readonly contextTokens: number;
}

/** `/tokenizer_info`, which is off unless the operator asks for it. */
export interface VllmTokenizerInfo {
  readonly template: string;
  readonly bosText: string;
  readonly eosText: string;
  readonly addedTexts: readonly string[];
}

/** What `/metrics` says of the server itself. */
export interface VllmMetrics {
  /** Ids in a block of the prefix cache; 0 if it is off. */
  readonly cacheBlockTokens: number | undefined;
  /** When its process was started, in milliseconds since 1970. */
  readonly startedMs: number | undefined;
  /** Prompt tokens that it has served since it was started, over all of its API processes. */
  readonly servedTokens: number | undefined;
}

export interface VllmTokens {
  readonly ids: Uint32Array;
  readonly contextTokens: number;
  /** The vocabulary's entries of the ids, where they were asked for; undefined for an id that it has none of. */
  readonly entries?: readonly (string | undefined)[];
}

export class VllmOracle {
  readonly #client: OracleClient;

  constructor(client: OracleClient) {
    this.#client = client;
  }

  async models(context: AskContext): Promise<VllmModel[]> {
    const answer = await this.#ask({ oracle: 'models', method: 'GET', path: '/v1/models' }, context);
    const { data } = object(answer);
    if (!isArray(data)) throw new OracleFailure('oracle-error', '/v1/models');
    return data.filter(isObject).map((entry) => ({
      name: text(entry['id']),
      root: text(entry['root']),
      parent: text(entry['parent']),
      contextTokens: count(entry['max_model_len']),
    }));
  }

  /** '' where the endpoint is not there. */
  async version(context: AskContext): Promise<string> {
    const answer = await this.#askIfThere({ oracle: 'version', method: 'GET', path: '/version' }, context);
    return text(object(answer)['version']);
  }

  /** Undefined where the endpoint is off. */
  async tokenizerInfo(context: AskContext): Promise<VllmTokenizerInfo | undefined> {
    const question = { oracle: 'tokenizer-info', method: 'GET', path: '/tokenizer_info' } as const;
    const answer = await this.#askIfThere(question, context);
    // Of an object of another kind nothing is read: a template that it does not name would be none.
    if (!isObject(answer) || text(answer['tokenizer_class']) === '') return undefined;
    const added = answer['added_tokens_decoder'];
    return {
      template: text(answer['chat_template']),
      bosText: text(answer['bos_token']),
      eosText: text(answer['eos_token']),
      addedTexts: isObject(added) ? Object.values(added).filter((value) => typeof value === 'string') : [],
    };
  }

  /** Nothing where the endpoint is not there. */
  async metrics(context: AskContext): Promise<VllmMetrics> {
    const question = { oracle: 'metrics', method: 'GET', path: '/metrics', plainText: true } as const;
    const answer = text(await this.#askIfThere(question, context));
    const started = /^process_start_time_seconds (\S+)$/m.exec(answer)?.[1];
    return {
      cacheBlockTokens: cacheBlockTokensIn(answer),
      startedMs: started === undefined ? undefined : Number(started) * 1000,
      servedTokens: servedTokensIn(answer),
    };
  }

  /** Ids of a text; texts of control tokens are recognised always. @param addSpecial with the BOS that raw prompts get */
  async tokenize(
    content: string,
    addSpecial: boolean,
    model: string,
    context: AskContext,
  ): Promise<VllmTokens> {
    const body = { prompt: content, add_special_tokens: addSpecial, model };
    return this.tokenizeBody(JSON.stringify(body), context);
  }

  /** Ids of a text, and their entries in the vocabulary. */
  async tokenizeNamed(content: string, model: string, context: AskContext): Promise<VllmTokens> {
    const body = { prompt: content, add_special_tokens: false, model, return_token_strs: true };
    return this.tokenizeBody(JSON.stringify(body), context);
  }

  /** Ids of a chat body as the chat route makes them; with entries if it asks for `return_token_strs`. */
  async tokenizeBody(body: string | Buffer, context: AskContext): Promise<VllmTokens> {
    const answer = await this.#ask({ oracle: 'tokenize', method: 'POST', path: '/tokenize', body }, context);
    const tokens = readTokens(answer);
    if (tokens === undefined) throw new OracleFailure('oracle-error', '/tokenize');
    return tokens;
  }

  /**
   * Ids of a body as the generation route itself makes them.
   * @param path of the generation route, such as `/v1/messages`
   * @throws OracleFailure with the status of the answer; most servers have this switched off
   */
  async render(path: string, body: Buffer, context: AskContext): Promise<Uint32Array> {
    const question = { oracle: 'render', method: 'POST', path: `${path}/render`, body } as const;
    const answer = await this.#ask(question, context);
    const ids = numbers(object(answer)['token_ids']);
    if (ids === undefined) throw new OracleFailure('oracle-error', question.path, { status: 200 });
    return Uint32Array.from(ids);
  }

  /** Control tokens are written as their texts. */
  async detokenize(ids: readonly number[], model: string, context: AskContext): Promise<string> {
    const body = JSON.stringify({ tokens: ids, model });
    const question = { oracle: 'detokenize', method: 'POST', path: '/detokenize', body } as const;
    const answer = await this.#ask(question, context);
    const { prompt } = object(answer);
    if (typeof prompt !== 'string') throw new OracleFailure('oracle-error', '/detokenize');
    return prompt;
  }

  /** Undefined for an endpoint that this server has not, or not for everyone. */
  async #askIfThere(
    question: Omit<OracleQuestion, 'credentials'>,
    context: AskContext,
  ): Promise<Json | undefined> {
    try {
      return await this.#ask(question, context);
    } catch (error) {
      if (error instanceof OracleFailure && isAbsence(error)) return undefined;
      throw error;
    }
  }

  /** True if chats are refused because there is no template, in vLLM's own words (renderers/hf.py, read in 0.32). */
  async lacksTemplate(model: string, { credentials, signal }: AskContext): Promise<boolean> {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'weir' }] });
    const question = { oracle: 'tokenize', method: 'POST', path: '/tokenize', body } as const;
    const answer = await this.#client.ask({ ...question, credentials, signal });
    return !answer.known && JSON.stringify(answer.json ?? '').includes('must provide a chat template');
  }

  async #ask(
    question: Omit<OracleQuestion, 'credentials'>,
    { credentials, signal }: AskContext,
  ): Promise<Json> {
    const answer = await this.#client.ask({ ...question, credentials, signal });
    if (answer.known) return answer.json;
    throw new OracleFailure(refine(answer), question.path, whatWasSaid(answer));
  }
}

const absences: readonly string[] = ['answer-too-large', 'engine-cannot', 'oracle-refused', 'oracle-error'];

/** A gateway may answer anything for what it does not carry; that it is asked too much is of the moment. */
function isAbsence({ reason }: OracleFailure): boolean {
  return absences.includes(reason);
}

/** It answers 404 for a model that it does not serve, and so do it and gateways for an endpoint that is not there. */
function refine(answer: OracleAnswer & { known: false }): UnknownReason {
  if (answer.status !== 404 && answer.status !== 405 && answer.status !== 501) return answer.reason;
  const isAboutModel = object(object(answer.json)['error'])['param'] === 'model';
  return isAboutModel ? 'model-not-loaded' : 'engine-cannot';
}

function servedTokensIn(metrics: string): number | undefined {
  const series = [...metrics.matchAll(/^vllm:prompt_tokens_total\{.*\} (\S+)$/gm)];
  return series.length === 0 ? undefined : series.reduce((sum, [, value]) => sum + Number(value), 0);
}

function cacheBlockTokensIn(metrics: string): number | undefined {
  const labels = /^vllm:cache_config_info\{(.*)\}/m.exec(metrics)?.[1];
  if (labels === undefined) return undefined;
  if (/\benable_prefix_caching="False"/.test(labels)) return 0;
  const size = /(?:^|,)block_size="(\d+)"/.exec(labels)?.[1];
  return size === undefined ? undefined : Number(size);
}

/** Undefined if the answer is none of `/tokenize`: other engines have an endpoint of that name too. */
export function readTokens(answer: Json): VllmTokens | undefined {
  const { max_model_len: contextTokens, tokens, count: told, token_strs: entries } = object(answer);
  const ids = numbers(tokens);
  if (typeof contextTokens !== 'number' || ids === undefined || told !== ids.length) return undefined;
  return {
    // An array is copied in one go; `from` would ask it for one id after the other.
    ids: new Uint32Array(ids),
    contextTokens: count(contextTokens),
    ...(isArray(entries) &&
      entries.length === ids.length && {
        entries: entries.map((entry) => (typeof entry === 'string' ? entry : undefined)),
      }),
  };
}
