/**
 * The value types that configuration keys are made of. Every error text says what is allowed, as the object of
 * "allowed:", so that one sentence serves the error message, the option tables and the editor.
 */
import { z } from 'zod';
import { formatByteSize, parseByteSize } from './byte-size.ts';

/** A choice of words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: listed(words) });
}

/** A whole number from `min` to `max`; `unit` is named in the message. */
export function wholeNumber(min: number, max: number, unit = '') {
  const error = `a whole number${unit === '' ? '' : ` of ${unit}`} from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A number from 0 to 1. */
export function ratio() {
  const error = 'a number from 0 to 1';
  return z.number({ error }).min(0, { error }).max(1, { error });
}

export function flag() {
  return z.boolean({ error: 'true or false' });
}

/** Bytes as a number or as text with a binary unit; read into a number. */
export function byteSize(min: number) {
  const error = `a size of at least ${formatByteSize(min)}, such as 64MiB, 512KiB or a number of bytes`;
  const inText = z.string().refine((value) => (parseByteSize(value) ?? -1) >= min, { error });
  return z.union([z.int().min(min, { error }), inText], { error }).transform((value) => {
    // The refinement above has proven that the text is a size.
    return typeof value === 'number' ? value : (parseByteSize(value) ?? min);
  });
}

/** Text of at least one character that `accepts` accepts. `allowed` says what that is. */
export function text(allowed: string, accepts: (value: string) => boolean = () => true) {
  return z.string({ error: allowed }).refine((value) => value !== '' && accepts(value), { error: allowed });
}

/** A section of keys; unknown keys are errors, a section that is left out or empty takes its defaults. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, { error: 'a mapping of keys' });
}

/** `"a", "b" or "c"`. */
function listed(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
}
