/** An option that takes one of a few words, with the answer that a wrong one gets. */
import type { Flags } from '../config/environment-layer.ts';

export type Choice<Word extends string> =
  | {
      /** Absent if the option was not given. */
      readonly given?: Word;
    }
  | { readonly problem: string };

/** @param option as typed, e.g. `--fail-on` */
export function readChoice<Word extends string>(
  flags: Flags,
  option: string,
  words: readonly Word[],
): Choice<Word> {
  const value = flags[option.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
  if (value === undefined) return {};
  const given = words.find((word) => word === value);
  if (given !== undefined) return { given };
  return { problem: `${option} is ${JSON.stringify(value)}; allowed: ${words.join(', ')}` };
}
