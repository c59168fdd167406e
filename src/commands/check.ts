/** `tokenweir check`: judges requests, traces and recordings as the proxy would, with nothing forwarded. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

import { runCheck, type CheckRun } from '../check/check.ts';
import { reportResult, summaryLine } from '../check/report.ts';
import { isFoundAt, isLacking, summarise } from '../check/result.ts';
import { loadConfig, type Config } from '../config/load.ts';
import { packageVersion } from '../config/version.ts';
import { explainSilence } from '../doctor/silence.ts';
import { engineKinds } from '../engines/index.ts';
import { severities, type Severity } from '../exchange/finding.ts';
import { formatRecording } from '../exchange/recording-writer.ts';
import { readableKinds } from '../exchange/request-reader.ts';
import { createPaint } from '../report/layout.ts';
import { readFiles, recordProblem, writeRecording, type ReadFiles } from './check-files.ts';
import {
  configOptions,
  configSources,
  exitCodes,
  jsonOption,
  type Command,
  type CommandContext,
  type ExitCode,
} from './command.ts';
import { reportErrors } from './config.ts';
import { openConfiguredEngine } from './configured-engine.ts';
import { missingUpstream } from './missing-upstream.ts';

export const command: Command = {
  name: 'check',
  description: 'judge request files, traces and recordings as the proxy would, without sending them',
  operands: '<files...>',
  options: [
    ...configOptions.filter(({ flags }) => /^--(?:config|upstream|engine) /.test(flags)),
    { flags: '--route <kind>', description: `what requests are for: ${readableKinds.join(', ')}` },
    { flags: '--frozen', description: 'judge recordings on what they hold alone, asking no engine' },
    { flags: '--session <name>', description: 'the requests are turns of one conversation, in this order' },
    {
      flags: '--record <file>',
      description: 'write today’s exchanges to a new file, prompts and ids included',
    },
    {
      flags: '--fail-on <severity>',
      description: 'exit 1 at findings of this severity or above: info, warning or error (default: error)',
    },
    { flags: '--allow-unknown', description: 'do not exit 3 because some prompt’s ids are not known' },
    { flags: '--show-text', description: 'show ordinary tokens around findings, not only control tokens' },
    jsonOption,
  ],
  async run(context) {
    const { flags, stderr, cwd } = context;
    const problem = flagProblem(context);
    if (problem !== undefined) return usage(problem, context);
    const loaded = loadConfig(configSources(context));
    if (loaded.kind === 'invalid') return reportErrors(loaded.errors, context);
    for (const warning of loaded.warnings) stderr(`${warning}\n`);
    const route = readableKinds.find((kind) => kind === flags['route']);
    const read = await readFiles(context.operands ?? [], context, route);
    if (read.mistakes.length > 0) return reportMistakes(read, context);
    const isAsked = flags['frozen'] !== true && loaded.config.upstream.url !== undefined;
    const unasked = read.inputs.filter(({ form }) => form !== 'recorded');
    if (!isAsked && (unasked.length > 0 || flags['record'] !== undefined)) {
      if (flags['frozen'] !== true) return missingUpstream(context, 'check');
      const [first] = unasked;
      return usage(
        first === undefined
          ? '--record needs an engine to read the prompts from; leave out --frozen'
          : `--frozen asks no engine, and ${first.source} is a ${first.form}; allowed: recordings`,
        context,
      );
    }
    const run = await check(read, loaded.config, isAsked, context);
    if (context.signal.aborted) return exitCodes.engineUnreachable;
    const { record } = flags;
    const unwritten =
      typeof record === 'string' && run.silence === undefined
        ? writeRecording(record, cwd, formatRecording(`tokenweir ${packageVersion()}`, run.recorded))
        : undefined;
    report(run, read, context);
    if (unwritten !== undefined) return usage(unwritten, context);
    return exitCodeOf(run, loaded.config, context);
  },
};

function flagProblem({ flags, cwd }: CommandContext): string | undefined {
  const { failOn = 'error', route, record, session } = flags;
  if (!isSeverity(failOn)) return wrongChoice('--fail-on', failOn, severities);
  if (route !== undefined && !(readableKinds as readonly unknown[]).includes(route)) {
    return wrongChoice('--route', route, readableKinds);
  }
  if (session === '') return '--session is ""; allowed: a name for the conversation';
  return typeof record === 'string' ? recordProblem(record, cwd) : undefined;
}

function wrongChoice(flag: string, given: unknown, allowed: readonly string[]): string {
  return `${flag} is ${JSON.stringify(given)}; allowed: ${allowed.join(', ')}`;
}

async function check(
  { inputs }: ReadFiles,
  config: Config,
  isAsked: boolean,
  { flags, cwd, signal, stderr }: CommandContext,
): Promise<CheckRun> {
  const asked = isAsked ? openConfiguredEngine(config, cwd, signal) : undefined;
  // A signal ends the questions under way; nothing is said about answers that never came.
  const stop = (): void => void asked?.engine.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await runCheck(inputs, {
      config:
        flags['showText'] === true ? { ...config, privacy: { ...config.privacy, showText: true } } : config,
      ...(asked && { asked }),
      ...(typeof flags['session'] === 'string' && { session: flags['session'] }),
      digestKey: randomBytes(32),
      onFailure: (error) => {
        stderr(`a fault of tokenweir's: ${inspect(error)}\n`);
      },
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await asked?.engine.close();
  }
}

function report({ results, silence }: CheckRun, { files }: ReadFiles, context: CommandContext): void {
  const { flags, stdout, colors } = context;
  if (flags['json'] === true) {
    const document = { files, summary: summarise(results), results, ...(silence && { silence }) };
    stdout(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  const paint = createPaint(colors === true);
  for (const result of results) stdout(reportResult(result, paint));
  // A check that ended early has no sum.
  if (silence === undefined) stdout(summaryLine(results));
}

function exitCodeOf({ results, silence }: CheckRun, { upstream }: Config, context: CommandContext): ExitCode {
  const { flags, stderr } = context;
  if (silence !== undefined) {
    const engines = engineKinds.filter((kind) => kind !== 'auto');
    const { reason, ...asked } = silence;
    const naming = 'in the request, as "model"';
    const said = explainSilence(reason, { upstream: upstream.url ?? '', engines, naming, ...asked });
    stderr(`${said.message}\n${said.advice}\n`);
    return said.isUsage ? exitCodes.usage : exitCodes.engineUnreachable;
  }
  const failOn = isSeverity(flags['failOn']) ? flags['failOn'] : 'error';
  if (isFoundAt(failOn, results)) return exitCodes.findings;
  return isLacking(results) && flags['allowUnknown'] !== true ? exitCodes.engineUnreachable : exitCodes.clean;
}

function reportMistakes({ mistakes }: ReadFiles, { flags, stdout, stderr }: CommandContext): ExitCode {
  if (flags['json'] === true) stdout(`${JSON.stringify({ mistakes }, null, 2)}\n`);
  else for (const { where, message } of mistakes) stderr(`${where}: ${message}\n`);
  return exitCodes.usage;
}

function usage(message: string, { stderr }: CommandContext): ExitCode {
  stderr(`${message}\n`);
  return exitCodes.usage;
}

function isSeverity(value: unknown): value is Severity {
  return (severities as readonly unknown[]).includes(value);
}
