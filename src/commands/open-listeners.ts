/** Starts the server for a command, with the commonest reason why that fails in words that say what to change. */
import { startServer, type RunningServer, type ServerOptions } from '../server.ts';
import type { CommandContext } from './command.ts';

/** @returns undefined if an address can't be opened; what to do is then on stderr. */
export async function openListeners(
  options: ServerOptions,
  { stderr }: CommandContext,
): Promise<RunningServer | undefined> {
  try {
    return await startServer(options);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const { listen, admin } = options.loaded.config;
    if (error.code === 'EADDRINUSE' || error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL') {
      stderr(
        `can't listen on ${listen} or ${admin.listen} (${error.code}); choose others with --listen and --admin\n`,
      );
      return undefined;
    }
    throw error;
  }
}
