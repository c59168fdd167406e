// A command, run in this process as the command line runs it: with its options, in a folder, and what it printed.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import type { Command, CommandContext, ExitCode } from '../../src/commands/command.ts';

export interface Ran {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param rest what differs from an empty environment, a folder without a configuration, and no signal */
export async function runCommand(
  command: Command,
  flags: CommandContext['flags'],
  rest: Partial<CommandContext> = {},
): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  const code = await command.run({
    flags,
    env: {},
    cwd: tmpdir(),
    stdout: (text) => void (printed.stdout += text),
    stderr: (text) => void (printed.stderr += text),
    signal: new AbortController().signal,
    onHangup: () => assert.fail(`${command.name} does not listen for SIGHUP`),
    onUnhandledRejection: () => assert.fail(`${command.name} leaves rejections to Node`),
    ...rest,
  });
  return { code, ...printed };
}
