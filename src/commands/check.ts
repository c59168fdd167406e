/** `tokenweir check`: judges requests, traces and recordings as the proxy would, with nothing forwarded. */
import type { CheckRun } from '../check/check.ts';
import { reportResult, summaryLine } from '../check/report.ts';
import { isFoundAt, isLacking, summarise } from '../check/result.ts';
import { loadConfig } from '../config/load.ts';
import { packageVersion } from '../config/version.ts';
import { formatRecording } from '../exchange/recording/recording-writer.ts';
import { createPaint } from '../report/layout.ts';
import { checkInputs, reportMistakes, reportSilence } from './asked-check.ts';
import { readFiles, recordProblem, writeRecording, type ReadFiles } from './check-files.ts';
import { checkOptions, readCheckFlags, type CheckFlags } from './check-flags.ts';
import { configSources, exitCodes, type Command, type CommandContext, type ExitCode } from './command.ts';
import { reportErrors } from './config.ts';
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

    const run = await checkInputs(read.inputs, loaded.config, isAsked, flags, context);
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

function exitCodeOf({ results }: CheckRun, { failOn, allowUnknown }: CheckFlags): ExitCode {
  if (isFoundAt(failOn, results)) return exitCodes.findings;
  return isLacking(results) && !allowUnknown ? exitCodes.engineUnreachable : exitCodes.clean;
}

function usage(message: string, { stderr }: CommandContext): ExitCode {
  stderr(`${message}\n`);
  return exitCodes.usage;
}
