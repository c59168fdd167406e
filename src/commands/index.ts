/** The table of commands, in the order of `--help`. A command's module is loaded only when it is called or listed. */
import type { Command } from './command.ts';

export const commandLoaders: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['config', async () => (await import('./config.ts')).command],
  ['serve', async () => (await import('./serve.ts')).command],
  ['demo', async () => (await import('./demo.ts')).command],
  ['check', async () => (await import('./check.ts')).command],
  ['golden', async () => (await import('./golden.ts')).command],
  ['doctor', async () => (await import('./doctor.ts')).command],
  ['version', async () => (await import('./version.ts')).command],
]);
