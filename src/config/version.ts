/** The version of this program, from its own package.json: one number for the command line, metrics and admin port. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** @throws if the package is damaged: package.json is missing or has no version. */
export function packageVersion(): string {
  // src/config and dist/config lie equally deep.
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
