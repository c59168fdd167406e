/** `tokenweir config`: the effective configuration with the origin of every value, or a check of one file. No secrets. */
import { formatConfigError, type ConfigError } from '../config/config-error.ts';
import { describeConfig, type DescribedKey } from '../config/describe.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import { loadConfig, type LoadedConfig } from '../config/load.ts';
import {
  configOptions,
  configSources,
  exitCodes,
  jsonOption,
  type Command,
  type CommandContext,
  type ExitCode,
} from './command.ts';

export const command: Command = {
  name: 'config',
  description: 'show every setting with its origin, or check a file',
  options: [
    ...configOptions,
    { flags: '--check <file>', description: 'only check this file, without environment and flags' },
    { flags: '--schema', description: 'print the JSON Schema of the file' },
    jsonOption,
  ],
  run(context) {
    return Promise.resolve(runConfig(context));
  },
};

function runConfig(context: CommandContext): ExitCode {
  const { flags, stdout } = context;
  if (flags['schema'] === true) {
    stdout(configJsonSchema());
    return exitCodes.clean;
  }
  const checked = flags['check'];
  const sources =
    typeof checked === 'string'
      ? { flags: { config: checked }, env: {}, cwd: context.cwd }
      : configSources(context);
  const result = loadConfig(sources);
  if (result.kind === 'invalid') return reportErrors(result.errors, context);
  if (typeof checked === 'string') {
    stdout(
      flags['json'] === true ? `${JSON.stringify({ valid: true, errors: [] })}\n` : `${checked}: valid\n`,
    );
    return exitCodes.clean;
  }
  for (const warning of result.warnings) context.stderr(`${warning}\n`);
  stdout(flags['json'] === true ? effectiveAsJson(result) : effectiveAsTable(result));
  return exitCodes.clean;
}

/** For every command that loads the configuration: prints all mistakes, one a line, and gives the exit code. */
export function reportErrors(errors: readonly ConfigError[], context: CommandContext): ExitCode {
  if (context.flags['json'] === true) context.stdout(`${JSON.stringify({ valid: false, errors })}\n`);
  else {
    for (const error of errors) context.stderr(`${formatConfigError(error)}\n`);
    context.stderr(`${errors.length} ${errors.length === 1 ? 'mistake' : 'mistakes'} in the configuration\n`);
  }
  return exitCodes.usage;
}

function effectiveAsJson(loaded: LoadedConfig): string {
  const settings = describeConfig(loaded).map(({ key, value, origin }): [string, object] => {
    return [key, { value: value ?? null, origin }];
  });
  return `${JSON.stringify(Object.fromEntries(settings), null, 2)}\n`;
}

function effectiveAsTable(loaded: LoadedConfig): string {
  const heading: DescribedKey = { key: 'KEY', shown: 'VALUE', origin: 'ORIGIN' };
  const rows = [heading, ...describeConfig(loaded)];
  const keyWidth = Math.max(...rows.map(({ key }) => key.length));
  const valueWidth = Math.max(...rows.map(({ shown }) => shown.length));
  const lines = rows.map(
    ({ key, shown, origin }) => `${key.padEnd(keyWidth)}  ${shown.padEnd(valueWidth)}  ${origin}\n`,
  );
  return lines.join('');
}
