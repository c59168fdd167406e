/** Caps the values of `model_name`: an engine that serves very many models must not make as many series. */

/** Stands for every model beyond the cap. */
export const otherModels = 'other';
/** Exchanges whose model is not known (yet). Takes no place under the cap. */
export const unknownModel = 'unknown';

export class ModelLabels {
  readonly #cap: number;
  readonly #names = new Set<string>();

  /** @param cap the most model names that get series of their own (`limits.modelLabels`). */
  constructor(cap: number) {
    this.#cap = cap;
  }

  /** The label value for a model: its name while there is room, and for as long as the process lives. */
  labelOf(modelName: string): string {
    if (modelName === unknownModel || this.#names.has(modelName)) return modelName;
    if (this.#names.size >= this.#cap) return otherModels;
    this.#names.add(modelName);
    return modelName;
  }
}
