/**
 * What vLLM has rendered before is not asked for whole again: `/tokenize` renders and tokenizes a chat in one call and tells
 * no text, so texts that it has seen are sent abbreviated, and their ids put back. Each answer is learnt from beside the
 * request, one in some is compared with the whole, and a contradiction ends it for the model.
 */
import { readBody } from '../../exchange/json/body-reader.ts';
import type { JsonObject } from '../../exchange/request/request.ts';
import { Abbreviations } from '../../tokens/abbreviations.ts';
import { keyedDigest } from '../../tokens/digest.ts';

import { abbreviableWithout, abbreviateChat, type AbbreviatedChat } from '../abbreviated-chat.ts';
import { exactJson } from '../exact-json.ts';
import type { KnownModel } from '../model-registry.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';
import { PutOff } from '../put-off.ts';

/** What `/tokenize` is asked with for a chat. */
export interface ChatBody {
  readonly bytes: Buffer | string;
  /** What the bytes are read as, where that is known already. */
  readonly json?: JsonObject;
}

/** Ids of a chat's body, by the engine. */
type Ask = (body: Buffer | string) => Promise<Uint32Array>;

export interface ChatQuestions {
  /** Ends with the exchange. */
  readonly ask: Ask;
  /** The same of an abbreviated body. */
  readonly askAbbreviated: Ask;
  /** Not tied to the exchange. */
  readonly askBeside: Ask;
  /** Told when ids that were put together turn out not to be the engine's. */
  readonly onMismatch: (model: KnownModel) => void;
}

interface ReadChat {
  readonly ids: Uint32Array;
  /** Has the answer learnt from and checked beside the request. */
  readonly remember: () => void;
}

export interface ChatMemoryOptions {
  readonly maxBytes: number;
  /** Random per process. */
  readonly digestKey: Uint8Array;
}

interface Reading extends ChatQuestions {
  readonly model: KnownModel;
  readonly bytes: Buffer | string;
  readonly abbreviated: (replaces: (word: string) => boolean) => AbbreviatedChat;
  readonly write: (chat: JsonObject) => string;
}

/** One answer in this many is compared with the whole. */
const checkEvery = 32;
/** Bodies that are shorter gain nothing. */
const shortestBody = 4096;

/** With these the template is another one, or looks for the last text in what it has rendered. */
const otherwise = ['chat_template', 'continue_final_message'] as const;

/** Of 51 bits: as good as no two texts have the same. The fewer, the less the engine has to tokenize. */
const wordLetters = 9;
const notLetters = /[^A-Za-z]/g;

export class VllmChatMemory {
  readonly #abbreviations: Abbreviations;
  readonly #digestKey: Uint8Array;
  readonly #putOff = new PutOff();

  constructor({ maxBytes, digestKey }: ChatMemoryOptions) {
    this.#abbreviations = new Abbreviations(maxBytes);
    this.#digestKey = digestKey;
  }

  /** @throws OracleFailure if the engine can't be asked, or refuses the body */
  async read(body: ChatBody, model: KnownModel | undefined, questions: ChatQuestions): Promise<ReadChat> {
    const reading = this.#reading(body, model, questions);
    if (reading === undefined) return { ids: await questions.ask(body.bytes), remember: () => undefined };
    const scope = reading.model.facts.identity;
    const known = reading.abbreviated((word) => this.#abbreviations.knows(scope, word));
    const expanded = known.words.length === 0 ? undefined : await this.#expand(reading, known);
    const ids = expanded ?? (await questions.ask(body.bytes));
    const remembered = expanded === undefined ? 0 : known.words.length;
    const remember = (): void => {
      this.#putOff.add(async () => {
        // What could not be learnt or checked is asked for whole the next time; the oracle's own metrics count the failure.
        await this.#learn(reading, ids, remembered).catch(() => undefined);
        if (expanded === undefined || Math.random() * checkEvery >= 1) return;
        await this.#check(reading, expanded).catch(() => undefined);
      });
    };
    return { ids, remember };
  }

  /** A reply has begun: what the engine was not to be asked before may be asked now. */
  noteReply(): void {
    this.#putOff.release();
  }

  #reading(
    { bytes, json: known }: ChatBody,
    model: KnownModel | undefined,
    questions: ChatQuestions,
  ): Reading | undefined {
    if (model?.trust.memoising !== true || bytes.length < shortestBody) return undefined;
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    const read = known === undefined ? readBody(buffer) : { readable: true as const, json: known };
    if (!read.readable) return undefined;
    const { json, write } = exactJson(buffer, read.json);
    if (otherwise.some((field) => Boolean(json[field] ?? false))) return undefined;
    const wordFor = this.#wordsFor(abbreviableWithout([...model.markers.idByText.keys()]));
    return {
      ...questions,
      model,
      bytes,
      write,
      abbreviated: (replaces) =>
        abbreviateChat(json, (text) => {
          const word = wordFor(text);
          return word !== undefined && replaces(word) ? word : undefined;
        }),
    };
  }

  async #expand(reading: Reading, { chat, words }: AbbreviatedChat): Promise<Uint32Array | undefined> {
    try {
      const short = await reading.askAbbreviated(reading.write(chat));
      const { facts } = reading.model;
      return this.#abbreviations.expand(facts.identity, reading.model.markers.ids, short, words.length);
    } catch (error) {
      // The engine itself says what is wrong with the body as it is.
      if (error instanceof OracleFailure && error.reason === 'oracle-refused') return undefined;
      throw error;
    }
  }

  /** Nothing is asked if all that can be abbreviated was remembered. */
  async #learn(reading: Reading, whole: Uint32Array, remembered: number): Promise<void> {
    const { chat, words } = reading.abbreviated(() => true);
    if (words.length === remembered) return;
    const abbreviated = await reading.askBeside(reading.write(chat));
    const { facts } = reading.model;
    const pair = { whole, abbreviated };
    const learning = this.#abbreviations.learn(facts.identity, reading.model.markers.ids, pair, words);
    if (learning === 'contradicts') reading.onMismatch(reading.model);
  }

  async #check({ askBeside, bytes, model, onMismatch }: Reading, ours: Uint32Array): Promise<void> {
    const whole = await askBeside(bytes);
    const isSame = ours.length === whole.length && ours.every((id, index) => whole[index] === id);
    if (!isSame) onMismatch(model);
  }

  /** Looks at each text once per request; undefined for one that is not abbreviated. */
  #wordsFor(isAbbreviable: (text: string) => boolean): (text: string) => string | undefined {
    const words = new Map<string, string | undefined>();
    return (text) => {
      if (words.has(text)) return words.get(text);
      if (!isAbbreviable(text)) {
        words.set(text, undefined);
        return undefined;
      }
      const digest = keyedDigest(this.#digestKey, 'abbreviation', text);
      const word = digest.replace(notLetters, '').slice(0, wordLetters);
      words.set(text, word);
      return word;
    };
  }
}
