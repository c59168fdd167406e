/**
 * What a prompt should be, by somebody other than the engine that is asked: ids that were once believed, or those that
 * Transformers makes. Never a rendering by JavaScript: its Jinja differs from Python's for some inputs.
 */
export const referenceMakers = ['golden', 'transformers'] as const;
export type ReferenceMaker = (typeof referenceMakers)[number];

export interface Reference {
  /** `golden`: an engine, at a time when somebody looked at it; `transformers`: Python's Transformers. */
  readonly by: ReferenceMaker;
  /** Of one prompt, or one list per prompt. */
  readonly ids: readonly number[] | readonly (readonly number[])[];
}

/** Undefined if the reference says nothing about this prompt. */
export function referenceIds({ ids }: Reference, promptIndex: number): readonly number[] | undefined {
  const [first] = ids;
  const all = typeof first === 'number' || first === undefined ? [ids as readonly number[]] : ids;
  const chosen = all[promptIndex];
  return typeof chosen === 'number' ? undefined : chosen;
}
