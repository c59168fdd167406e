/**
 * What a vLLM says of itself cheaply: while it stays the same, facts hold. Nothing that it says differs per process, so a
 * restart is seen by what it may change: version, model, context, the ids of a text and of a conversation.
 */
import { createHash } from 'node:crypto';

import type { AskContext } from './engine.ts';
import { OracleFailure } from './oracle-failure.ts';
import type { VllmModel, VllmOracle } from './vllm-oracle.ts';

export interface VllmIdentity {
  readonly signature: string;
  readonly model: VllmModel;
  readonly version: string;
  readonly contextTokens: number;
}

/** How long an answer stands for "unchanged" while the connections hold. */
const freshMs = 5000;

const neverAborted = new AbortController().signal;

export class VllmSignatures {
  readonly #oracle: VllmOracle;
  /** By the model's name as requested; '' for the default. */
  readonly #answers = new Map<string, { untilMs: number; identity: Promise<VllmIdentity> }>();

  constructor(oracle: VllmOracle) {
    this.#oracle = oracle;
  }

  /** @throws OracleFailure if there is no usable answer, or no such model */
  async get(requested: string, context: AskContext): Promise<VllmIdentity> {
    const known = this.#answers.get(requested);
    if (known === undefined || known.untilMs <= Date.now()) return this.#ask(requested, context);
    try {
      return await known.identity;
    } catch (error) {
      // Another's key was refused, which says nothing about this one's.
      if (error instanceof OracleFailure && error.reason === 'oracle-refused')
        return this.#ask(requested, context);
      throw error;
    }
  }

  /** Whatever answers next may be another process. */
  forget(): void {
    this.#answers.clear();
  }

  async #ask(requested: string, context: AskContext): Promise<VllmIdentity> {
    // Names come from clients: what they make up must not be kept.
    if (this.#answers.size > 64) this.#answers.clear();
    // Not tied to one exchange's signal: others wait for the same answer.
    const identity = this.#learn(requested, { ...context, signal: neverAborted });
    const entry = { untilMs: Date.now() + freshMs, identity };
    this.#answers.set(requested, entry);
    try {
      return await identity;
    } catch (error) {
      if (this.#answers.get(requested) === entry) this.#answers.delete(requested);
      throw error;
    }
  }

  async #learn(requested: string, context: AskContext): Promise<VllmIdentity> {
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
    const signature = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
    return { signature, model, version, contextTokens: model.contextTokens || contextTokens };
  }

  /** [] if the model has no template, or one that refuses. */
  async #conversationIds(model: string, context: AskContext): Promise<number[]> {
    const messages = [{ role: 'user', content: 'Weir' }];
    try {
      return [...(await this.#oracle.tokenizeBody(JSON.stringify({ model, messages }), context)).ids];
    } catch (error) {
      if (error instanceof OracleFailure && error.reason === 'oracle-refused') return [];
      throw error;
    }
  }
}
