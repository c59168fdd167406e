/**
 * The text of a chat's ids. vLLM tells no rendered text, and its `/detokenize` need not give back what was tokenized; but
 * beside ids it names their entries in the vocabulary, and those say exactly what each id stands for. Asked for with the ids
 * of each chat; kept are entries, never texts.
 */
import { LRUCache } from 'lru-cache';

import type { KnownTokens } from '../../exchange/token-read.ts';
import { keyedDigest } from '../../tokens/digest.ts';
import { cutIdsAtMarkers, type MarkerPattern } from '../../tokens/markers.ts';
import { PieceTable, type PieceText } from '../../tokens/piece-table.ts';
import { alphabetProbe, provenAlphabet } from '../../tokens/vocabulary-alphabet.ts';

import type { AskContext } from '../engine.ts';
import type { KnownModel } from '../model-registry.ts';
import { OracleFailure } from '../oracle/oracle-failure.ts';
import type { VllmOracle, VllmTokens } from './oracle.ts';

type ReadText = Pick<KnownTokens, 'text' | 'segments'>;

/** Each holds a vocabulary at most, some 4 MB of it. */
const mostTables = 4;

export class VllmChatTexts {
  readonly #oracle: VllmOracle;
  readonly #digestKey: Uint8Array;
  /** By identity of the model; `undefined` in an entry where its alphabet is not known. */
  readonly #tables = new LRUCache<string, { readonly table: Promise<PieceTable | undefined> }>({
    max: mostTables,
  });

  constructor(oracle: VllmOracle, digestKey: Uint8Array) {
    this.#oracle = oracle;
    this.#digestKey = digestKey;
  }

  async learn(model: KnownModel, { ids, entries }: VllmTokens, context: AskContext): Promise<void> {
    if (entries === undefined) return;
    (await this.#tableOf(model, context))?.learn(ids, entries);
  }

  /**
   * @param prefixLength how many ids the engine has put in front of the rendered text
   * @returns {} if the text is not known
   */
  async read(
    model: KnownModel,
    ids: Uint32Array,
    prefixLength: number,
    context: AskContext,
  ): Promise<ReadText> {
    const table = await this.#tableOf(model, context);
    if (table === undefined) return {};
    const read =
      table.read(ids, prefixLength, model.markers) ??
      (await this.#readAsked(model, ids, prefixLength, table, context));
    if (read === undefined) return {};
    const { text, segments } = read;
    const keyOf = (start: number, end: number | undefined): string =>
      keyedDigest(this.#digestKey, 'piece-text', text.slice(start, end));
    return {
      text,
      segments: segments.map(({ tokenStart, textStart }, index) => ({
        // Digested only where somebody asks: turns of a chat are told apart by its messages.
        get key() {
          return keyOf(textStart, segments[index + 1]?.textStart);
        },
        tokenStart,
        textStart,
      })),
    };
  }

  /** What it has seen to be one token each and looks like a marker. */
  async markerLike(model: KnownModel, context: AskContext): Promise<Iterable<string>> {
    return (await this.#tableOf(model, context))?.markerLike ?? [];
  }

  /** Again, after what is new in it was asked for. */
  async #readAsked(
    model: KnownModel,
    ids: Uint32Array,
    prefixLength: number,
    table: PieceTable,
    context: AskContext,
  ): Promise<PieceText | undefined> {
    const { markers } = model;
    if (!ids.some((id) => isUnseen(id, markers, table))) return undefined;
    await this.#ask(model, ids, table, context);
    return table.read(ids, prefixLength, markers);
  }

  /** For ids that came without entries: the text that the engine itself makes of them has the same ones. */
  async #ask(model: KnownModel, ids: Uint32Array, table: PieceTable, context: AskContext): Promise<void> {
    const { modelName } = model.facts;
    const unseen = unseenSegments(model.markers, ids, table);
    await orNothing(async () => {
      const text = await this.#oracle.detokenize(unseen, modelName, context);
      const named = await this.#oracle.tokenizeNamed(text, modelName, context);
      table.learn(named.ids, named.entries ?? []);
      table.giveUp(unseen);
    });
  }

  async #tableOf(model: KnownModel, context: AskContext): Promise<PieceTable | undefined> {
    const { identity, modelName } = model.facts;
    const known = this.#tables.get(identity);
    if (known !== undefined) return orNothing(() => known.table);
    const table = this.#oracle.tokenizeNamed(alphabetProbe, modelName, context).then(({ entries }) => {
      const alphabet = provenAlphabet(entries?.map((entry) => entry ?? '') ?? []);
      return alphabet === undefined ? undefined : new PieceTable(alphabet);
    });
    this.#tables.set(identity, { table });
    table.catch(() => this.#tables.delete(identity));
    return orNothing(() => table);
  }
}

/** The ids are known without what they say; the oracle's own metrics count the failure. */
async function orNothing<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OracleFailure) return undefined;
    throw error;
  }
}

/** Whole segments, for an id among others is not tokenized as it is alone. */
function unseenSegments(markers: MarkerPattern, ids: Uint32Array, table: PieceTable): number[] {
  return cutIdsAtMarkers(ids, markers.ids)
    .filter((segment) => segment.some((id) => isUnseen(id, markers, table)))
    .flatMap((segment) => [...segment]);
}

function isUnseen(id: number, { ids }: MarkerPattern, table: PieceTable): boolean {
  return !ids.has(id) && table.isNew(id);
}
