#!/usr/bin/env node
// The command line: which command runs, with which options, and how the process ends. The only file that prints to the
// terminal and exits; what a command does is in commands/.
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { Command as Program, CommanderError } from 'commander';
import { exitCodes, type Command, type CommandContext } from './commands/command.ts';
import { commandLoaders } from './commands/index.ts';
import { packageVersion } from './config/version.ts';

const hint = 'Run "tokenweir --help" for the commands, "tokenweir <command> --help" for the options of one.';

// A reader that has seen enough (`| head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Not 1, which says "findings": a fault of ours must not look like a verdict.
  process.stderr.write(`tokenweir: internal error: ${inspect(error)}\n`);
  process.exitCode = 70;
}

async function main(argv: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.clean;
  const program = describeProgram();
  for (const command of await commandsFor(argv[0])) {
    const sub = program.command(command.name).description(command.description);
    for (const option of command.options) sub.option(option.flags, option.description);
    if (command.operands !== undefined) sub.arguments(command.operands);
    sub.action(async () => {
      exitCode = await command.run(contextFor(sub.opts(), sub.args));
    });
  }
  try {
    if (argv.length === 0) program.help({ error: true });
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help and version are "errors" with exit code 0 to commander; all others are wrong usage, already printed.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.clean : exitCodes.usage;
    throw error;
  }
}

function describeProgram(): Program {
  return new Program('tokenweir')
    .description('Cache diagnostics and template truth for your own inference server.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand('help [command]', 'print the options of a command')
    .usage('<command> [options]')
    .showSuggestionAfterError()
    .showHelpAfterError(hint)
    .addHelpText(
      'after',
      `\nExit codes: 0 clean, 1 findings, 2 usage or configuration, 3 engine unreachable.`,
    )
    .exitOverride();
}

/** Only the called command's module is loaded; for help and mistyped names all of them, to list or suggest. */
async function commandsFor(name: string | undefined): Promise<readonly Command[]> {
  const called = name === undefined ? undefined : commandLoaders.get(name);
  if (called) return [await called()];
  return Promise.all([...commandLoaders.values()].map((load) => load()));
}

function contextFor(flags: Readonly<Record<string, unknown>>, operands: readonly string[]): CommandContext {
  return {
    flags,
    operands,
    stdin: () => buffer(process.stdin),
    env: process.env,
    cwd: process.cwd(),
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    // `hasColors` knows NO_COLOR and the like.
    colors: process.stdout.isTTY && process.stdout.hasColors(),
    get columns() {
      return process.stdout.isTTY ? process.stdout.columns : undefined;
    },
    signal: stopSignal(),
    onHangup: (callback) => void process.on('SIGHUP', callback),
    onUnhandledRejection: (callback) => void process.on('unhandledRejection', callback),
  };
}

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const [name, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + number);
      controller.abort(name);
    });
  }
  return controller.signal;
}
