/** `tokenweir serve`: the proxy in front of one inference server, until a signal ends it. */
import { formatConfigError } from '../config/config-error.ts';
import { loadConfig, type LoadedConfig } from '../config/load.ts';
import { reloadConfig } from '../config/reload.ts';
import { packageVersion } from '../config/version.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { createLogger, type Logger } from '../log/logger.ts';
import type { RunningServer } from '../server.ts';
import { recordProblem } from './check-files.ts';
import { configOptions, configSources, exitCodes, type Command, type CommandContext } from './command.ts';
import { reportErrors } from './config.ts';
import { missingUpstream } from './missing-upstream.ts';
import { openListeners } from './open-listeners.ts';
import { RecordingFile } from './recording-file.ts';

export const command: Command = {
  name: 'serve',
  description: 'run the proxy in front of an inference server',
  options: [
    ...configOptions,
    {
      flags: '--record <file>',
      description: 'write every exchange to a new file for `check`, prompts and ids included',
    },
  ],
  async run(context) {
    const result = loadConfig(configSources(context));
    if (result.kind === 'invalid') return reportErrors(result.errors, context);
    if (result.config.upstream.url === undefined) return missingUpstream(context, 'serve');
    // A signal that comes while the listeners are opened must not end the process; it is heeded once they are.
    let missed = 0;
    let onHangup = (): void => {
      missed += 1;
    };
    context.onHangup(() => {
      onHangup();
    });
    const logger = createLogger({ level: result.config.log.level });
    // Whatever a mistake of ours leaves behind in one inspection, all others' requests are still forwarded.
    context.onUnhandledRejection((reason) => {
      logger.error({ event: 'unhandled-rejection', err: reason }, unhandledMessage);
    });
    for (const warning of result.warnings) logger.warn(warning);
    const kept: { recording?: RecordingFile } = {};
    const onSettled = (exchange: Exchange): void => kept.recording?.add(exchange);
    const server = await openListeners({ loaded: result, logger, cwd: context.cwd, onSettled }, context);
    if (server === undefined) return exitCodes.usage;
    // Not before: a start that fails leaves no file behind.
    const recording = openRecording(logger, context);
    if (typeof recording === 'string') {
      context.stderr(`${recording}\n`);
      await server.drain();
      return exitCodes.usage;
    }
    if (recording !== undefined) kept.recording = recording;
    const { upstream, mode } = result.config;
    logger.info(
      { listen: server.url, admin: server.adminUrl, upstream: upstream.url, mode },
      'tokenweir serves',
    );
    onHangup = reloader(result, server, logger, context);
    if (missed > 0) onHangup();
    await aborted(context.signal);
    logger.info({ signal: context.signal.reason as unknown }, 'draining');
    await server.drain();
    if (recording !== undefined) logger.info({ ...(await recording.close()) }, 'recording closed');
    logger.info('stopped');
    return exitCodes.clean;
  },
};

const unhandledMessage =
  'a fault of tokenweir itself: something failed that nobody waited for; requests go on. Please report this line';

/** @returns undefined if none is asked for; in words, why there can be none. */
function openRecording(
  logger: Logger,
  { flags: { record }, cwd }: CommandContext,
): RecordingFile | string | undefined {
  if (typeof record !== 'string') return undefined;
  const taken = recordProblem(record, cwd);
  if (taken !== undefined) return taken;
  const recording = RecordingFile.open(record, cwd, `tokenweir ${packageVersion()}`, (error) => {
    logger.error({ err: error, file: record }, 'recording ended: the file can not be written to');
  });
  if (typeof recording !== 'string') {
    logger.warn({ file: record }, 'every exchange is recorded, prompts and ids included');
  }
  return recording;
}

/** Validates first, swaps then; a configuration with mistakes changes nothing. */
function reloader(
  atStart: LoadedConfig,
  server: RunningServer,
  logger: Logger,
  context: CommandContext,
): () => void {
  let current = atStart;
  return () => {
    const reload = reloadConfig(current, configSources(context));
    server.noteReload(reload.kind === 'swapped');
    if (reload.kind === 'rejected') {
      const errors = reload.errors.map(formatConfigError);
      logger.error({ event: 'config-rejected', errors }, 'configuration not reloaded: it has mistakes');
      return;
    }
    current = reload;
    server.swapConfig(reload);
    logger.info({ event: 'config-reloaded', changed: reload.changed }, 'configuration reloaded');
    if (reload.ignored.length > 0) {
      logger.warn(
        { event: 'config-needs-restart', keys: reload.ignored },
        'these keys change at the next start',
      );
    }
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
}
