/**
 * What a vLLM says of itself cheaply: while it stays the same, facts hold. A restart that changes none of it changes no
 * ids: version, model, context, the ids of a text and of a conversation.
 */
import { fingerprint } from '../../exchange/fingerprint.ts';

import type { AskContext } from '../engine.ts';
import { FreshAnswers } from '../fresh-answers.ts';
import { isRefusal, OracleFailure } from '../oracle/oracle-failure.ts';
import type { VllmModel, VllmOracle } from './oracle.ts';

export interface VllmIdentity {
  readonly signature: string;
  readonly model: VllmModel;
  readonly version: string;
  readonly contextTokens: number;
}

/** How long an answer stands for "unchanged" while the connections hold. */
const freshMs = 5000;

export class VllmSignatures {
  readonly #oracle: VllmOracle;
  readonly #answers: FreshAnswers<VllmIdentity>;

  constructor(oracle: VllmOracle) {
    this.#oracle = oracle;
    this.#answers = new FreshAnswers({
      freshMs,
      ask: (requested, context) => this.#ask(requested, context),
    });
  }

  /**
   * @param requested the model's name; '' for the default
   * @throws OracleFailure if there is no usable answer, or no such model
   */
  get(requested: string, context: AskContext): Promise<VllmIdentity> {
    return this.#answers.get(requested, context);
  }

  /** True if it need not be asked what it is. */
  isFresh(requested: string): boolean {
    return this.#answers.isFresh(requested);
  }

  /** Whatever answers next may be another process. */
  forget(): void {
    this.#answers.forget();
  }

  async #ask(requested: string, context: AskContext): Promise<VllmIdentity> {
    const models = await this.#oracle.models(context);
    // Without a name, or with an empty one, the first is meant (measured).
    const model = requested === '' ? models[0] : models.find(({ name }) => name === requested);
    if (model === undefined) throw new OracleFailure('model-not-loaded', '/v1/models');
    const [version, added, conversation] = await Promise.all([
      this.#oracle.version(context),
      this.#oracle.tokenize('', true, model.name, context),
      this.#conversationIds(model.name, context),
    ]);
    const { contextTokens } = added;
    const parts = [
      model.name,
      model.root,
      model.parent,
      version,
      contextTokens,
      [...added.ids],
      conversation,
    ];
    const signature = fingerprint(JSON.stringify(parts));
    return { signature, model, version, contextTokens: model.contextTokens || contextTokens };
  }

  /** [] if the model has no template, or one that refuses. */
  async #conversationIds(model: string, context: AskContext): Promise<number[]> {
    const messages = [{ role: 'user', content: 'Weir' }];
    try {
      return [...(await this.#oracle.tokenizeBody(JSON.stringify({ model, messages }), context)).ids];
    } catch (error) {
      if (isRefusal(error) && error.reason === 'oracle-refused') return [];
      throw error;
    }
  }
}
