/** What a command is: data about its options and one function. Commands never print or exit by themselves. */
import { configFlags } from '../config/flags.ts';
import type { Environment, Flags } from '../config/environment-layer.ts';
import type { ConfigSources } from '../config/load.ts';

/** Public contract (docs/configuration.md). */
export const exitCodes = {
  clean: 0,
  /** Findings at or above `--fail-on`. */
  findings: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  engineUnreachable: 3,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface CommandOption {
  /** As commander reads it, e.g. `--check <file>`. */
  readonly flags: string;
  readonly description: string;
}

export interface CommandContext {
  /** Option values by property name, e.g. `logLevel`; absent options are absent. */
  readonly flags: Flags;
  /** What stands on the command line beside the options. @defaultValue none */
  readonly operands?: readonly string[];
  /** All of standard input, read when it is asked for. */
  readonly stdin?: () => Promise<Buffer>;
  readonly env: Environment;
  readonly cwd: string;
  /** Writes text as it is; the newline is the caller's. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** True if what is written to stdout may hold colours: a terminal, and nobody asked for none. @defaultValue false */
  readonly colors?: boolean;
  /** Width of the terminal that stdout is, asked when it is needed; undefined where it is none. */
  readonly columns?: number | undefined;
  /** Aborts at the first SIGINT or SIGTERM, with the signal's name as reason; a second signal ends the process. */
  readonly signal: AbortSignal;
  /** Calls back at every SIGHUP. Until it is called for the first time, SIGHUP ends the process. */
  readonly onHangup: (callback: () => void) => void;
  /**
   * Calls back with the reason of each rejected promise that nobody waits for, a fault of our own. Until it is called for
   * the first time, such a promise ends the process, as Node does it.
   */
  readonly onUnhandledRejection: (callback: (reason: unknown) => void) => void;
}

export interface Command {
  readonly name: string;
  /** One line for the command list. */
  readonly description: string;
  readonly options: readonly CommandOption[];
  /** As commander reads it, e.g. `<files...>`; a command without it takes no operands. */
  readonly operands?: string;
  /** Resolves when the command is done; rejects only for faults of our own. */
  run(context: CommandContext): Promise<ExitCode>;
}

/** For commands that load the configuration. */
export const configOptions: readonly CommandOption[] = [
  {
    flags: '--config <file>',
    description: 'configuration file (default: proxy.yaml in this directory, if any)',
  },
  ...configFlags.map(({ flag, placeholder, description }) => ({
    flags: `${flag} ${placeholder}`,
    description,
  })),
];

export const jsonOption: CommandOption = { flags: '--json', description: 'print JSON' };

export function configSources({ flags, env, cwd }: CommandContext): ConfigSources {
  return { flags, env, cwd };
}
