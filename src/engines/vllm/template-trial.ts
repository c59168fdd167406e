/**
 * What vLLM's conversion of `/v1/messages` takes from the chat template. It tries the template when it starts; the same is
 * tried here through `/tokenize`, once per model, and only if a body needs to know.
 */
import { LRUCache } from 'lru-cache';

import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { JsonObject } from '../../exchange/request/request.ts';

import type { AskContext } from '../engine.ts';
import { isRefusal } from '../oracle/oracle-failure.ts';
import type { MessagesTraits } from './messages.ts';
import type { VllmOracle } from './oracle.ts';

const mostModels = 64;
const neverAborted = new AbortController().signal;

export class TemplateTrial {
  readonly #oracle: VllmOracle;
  /** By the model's identity and the question. */
  readonly #answers = new LRUCache<string, Promise<MessagesTraits>>({ max: 3 * mostModels });

  constructor(oracle: VllmOracle) {
    this.#oracle = oracle;
  }

  /** @throws OracleFailure if the engine can't be asked */
  async traits(body: JsonObject, facts: ModelFacts, context: AskContext): Promise<MessagesTraits> {
    const instructs = isArray(body['messages']) && body['messages'].some(isInstruction);
    const { thinking } = body;
    const isOff = isObject(thinking) && thinking['type'] === 'disabled';
    const key = JSON.stringify([facts.identity, instructs, isOff]);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    // Not tied to one exchange's signal: others wait for the same answer.
    const answer = this.#learn(instructs, isOff, facts.modelName, { ...context, signal: neverAborted });
    this.#answers.set(key, answer);
    try {
      return await answer;
    } catch (error) {
      this.#answers.delete(key);
      throw error;
    }
  }

  async #learn(
    instructs: boolean,
    isOff: boolean,
    model: string,
    context: AskContext,
  ): Promise<MessagesTraits> {
    const ids = (body: object): Promise<string | undefined> => this.#ids({ ...body, model }, context);
    return {
      instructionsFirst: instructs && (await ids(interrupted)) === undefined,
      effortWithoutThinking: isOff ? await effortWithoutThinking(ids) : 'none',
    };
  }

  /** Undefined if the template refuses the conversation. */
  async #ids(body: object, context: AskContext): Promise<string | undefined> {
    try {
      return String((await this.#oracle.tokenizeBody(JSON.stringify(body), context)).ids);
    } catch (error) {
      if (isRefusal(error) && error.reason === 'oracle-refused') return undefined;
      throw error;
    }
  }
}

function isInstruction(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'role' in message && message.role === 'system';
}

const [system, user] = [
  { role: 'system', content: 't' },
  { role: 'user', content: 't' },
];
const interrupted = { messages: [system, user, system, user], add_generation_prompt: false };

const efforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** `low` where the template refuses `none`, or takes it for one of the others. */
async function effortWithoutThinking(ids: (body: object) => Promise<string | undefined>): Promise<string> {
  const withEffort = (effort: string): Promise<string | undefined> =>
    ids({
      messages: [{ role: 'user', content: 'Hi' }],
      chat_template_kwargs: { enable_thinking: effort !== 'none', reasoning_effort: effort },
    });
  const [none, ...others] = await Promise.all(['none', ...efforts].map(withEffort));
  return none === undefined || others.includes(none) ? 'low' : 'none';
}
