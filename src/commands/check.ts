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
import { formatRecording } from '../exchange/recording-writer.ts';
import { createPaint } from '../report/layout.ts';
import { printable } from '../report/printable.ts';
import { readFiles, recordProblem, writeRecording, type ReadFiles } from './check-files.ts';
import { checkOptions, readCheckFlags, type CheckFlags } from './check-flags.ts';
import { configSources, exitCodes, type Command, type CommandContext, type ExitCode } from './command.ts';
import { reportErrors } from './config.ts';
import { openConfiguredEngine } from './configured-engine.ts';
import { missingUpstream } from './missing-upstream.ts';

export const command: Command = {
  name: 'check',
  description: 'judge request files, traces and recordings as the proxy would, without sending them',
  operands: '<files...>',
  options: checkOptions,
  async run(context) {
    const { stderr, cwd, operands = [] } = context;
    const flags = readCheckFlags(context);
    if (typeof flags === 'string') return usage(flags, context);
    const { record } = flags;
    const taken = record === undefined ? undefined : recordProblem(record, cwd);
    if (taken !== undefined) return usage(taken, context);
    const loaded = loadConfig(configSources(context));
    if (loaded.kind === 'invalid') return reportErrors(loaded.errors, context);
    for (const warning of loaded.warnings) stderr(`${warning}\n`);
    const read = await readFiles(operands, context, flags.route);
    if (read.mistakes.length > 0) return reportMistakes(read, flags, context);
    const unasked = whatNeedsAsking(read, flags);
    if (flags.frozen && unasked !== undefined) return usage(`--frozen asks no engine; ${unasked}`, context);
    const isAsked = !flags.frozen && loaded.config.upstream.url !== undefined;
    if (!isAsked && unasked !== undefined) return missingUpstream(context, 'check');

    const run = await check(read, loaded.config, isAsked, flags, context);
    if (context.signal.aborted) return exitCodes.engineUnreachable;
    report(run, read, flags, context);
    if (run.silence !== undefined) return reportSilence(run.silence, loaded.config, context);
    if (record !== undefined) {
      const text = formatRecording(`tokenweir ${packageVersion()}`, run.recorded);
      const problem = writeRecording(record, cwd, text);
      if (problem !== undefined) return usage(problem, context);
      stderr(`${record}: ${run.recorded.length} recorded, prompts and ids included\n`);
    }
    return exitCodeOf(run, flags);
  },
};

/** In words, the first thing that only an engine can answer; undefined if there is none. */
function whatNeedsAsking({ inputs }: ReadFiles, { record }: CheckFlags): string | undefined {
  const first = inputs.find(({ form }) => form !== 'recorded');
  if (first !== undefined) return `${first.source} is a ${first.form}; allowed: recordings`;
  return record === undefined ? undefined : '--record needs one to read the prompts';
}

async function check(
  { inputs }: ReadFiles,
  config: Config,
  isAsked: boolean,
  { session, showText }: CheckFlags,
  { cwd, signal, stderr }: CommandContext,
): Promise<CheckRun> {
  const asked = isAsked ? openConfiguredEngine(config, cwd, signal) : undefined;
  // A signal ends the questions under way; nothing is said about answers that never came.
  const stop = (): void => void asked?.engine.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await runCheck(inputs, {
      config: showText ? { ...config, privacy: { ...config.privacy, showText } } : config,
      ...(asked && { asked }),
      ...(session !== undefined && { session }),
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

function report(
  { results, silence }: CheckRun,
  { files }: ReadFiles,
  { json }: CheckFlags,
  { stdout, colors }: CommandContext,
): void {
  if (json) {
    const document = { files, summary: summarise(results), results, ...(silence && { silence }) };
    stdout(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  const paint = createPaint(colors === true);
  for (const result of results) stdout(reportResult(result, paint));
  // A check that ended early has no sum.
  if (silence === undefined) stdout(summaryLine(results));
}

function reportSilence(
  { reason, ...asked }: NonNullable<CheckRun['silence']>,
  { upstream: { url: upstream = '' } }: Config,
  { stderr }: CommandContext,
): ExitCode {
  const engines = engineKinds.filter((kind) => kind !== 'auto');
  const naming = 'in the request, as "model"';
  const { message, advice, isUsage } = explainSilence(reason, { upstream, engines, naming, ...asked });
  stderr(`${message}\n${advice}\n`);
  return isUsage ? exitCodes.usage : exitCodes.engineUnreachable;
}

function exitCodeOf({ results }: CheckRun, { failOn, allowUnknown }: CheckFlags): ExitCode {
  if (isFoundAt(failOn, results)) return exitCodes.findings;
  return isLacking(results) && !allowUnknown ? exitCodes.engineUnreachable : exitCodes.clean;
}

function reportMistakes(
  { mistakes }: ReadFiles,
  { json }: CheckFlags,
  { stdout, stderr }: CommandContext,
): ExitCode {
  if (json) stdout(`${JSON.stringify({ mistakes }, null, 2)}\n`);
  else for (const { where, message } of mistakes) stderr(`${printable(`${where}: ${message}`)}\n`);
  return exitCodes.usage;
}

function usage(message: string, { stderr }: CommandContext): ExitCode {
  stderr(`${message}\n`);
  return exitCodes.usage;
}
