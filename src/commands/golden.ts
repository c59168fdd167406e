/**
 * `tokenweir golden`: asks an engine for the ids of request files and writes them beside, for `tokenweir check` to hold
 * later ones against. Writes nothing of a prompt that is wrong today.
 */
import { formatGolden, goldenLine, goldenNameOf, requestDigest } from '../check/golden-file.ts';
import type { CheckRun } from '../check/check.ts';
import { reportResult } from '../check/report.ts';
import { datedFindings, type CheckResult } from '../check/result.ts';
import { loadConfig } from '../config/load.ts';
import { packageVersion } from '../config/version.ts';
import type { FindingRecord } from '../exchange/finding-record.ts';
import { readableKinds } from '../exchange/request/request-reader.ts';
import { createPaint } from '../report/layout.ts';
import { printable } from '../report/printable.ts';
import { checkInputs, reportMistakes, reportSilence } from './asked-check.ts';
import { readFiles, writeGolden, type FileInputs, type ReadFiles } from './check-files.ts';
import { readChoice } from './choice.ts';
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
import { missingUpstream } from './missing-upstream.ts';

/** `differs`: there is one with other ids, and it was kept. `wrong`, `not-known`: there is nothing to hold others against. */
type State = 'written' | 'unchanged' | 'differs' | 'wrong' | 'not-known';

interface Outcome {
  readonly file: string;
  readonly golden: string;
  readonly state: State;
  readonly requests: number;
}

const inWords: Readonly<Record<State, string>> = {
  written: 'written',
  unchanged: 'as it is',
  differs: 'kept, and the engine makes other ids; --update writes it anew',
  wrong: 'not written: the prompt is wrong',
  'not-known': 'not written: not all ids are known',
};

export const command: Command = {
  name: 'golden',
  description: 'write the token ids that an engine makes of request files beside them, for later checks',
  operands: '<files...>',
  options: [
    ...configOptions.filter(({ flags }) => /^--(?:config|upstream|engine) /.test(flags)),
    { flags: '--route <kind>', description: `what requests are for: ${readableKinds.join(', ')}` },
    { flags: '--update', description: 'write golden files anew where the engine makes other ids' },
    jsonOption,
  ],
  async run(context) {
    const { flags, stdout, stderr, cwd, operands = [] } = context;
    const route = readChoice(flags, '--route', readableKinds);
    if ('problem' in route) return usage(route.problem, context);
    const loaded = loadConfig(configSources(context));
    if (loaded.kind === 'invalid') return reportErrors(loaded.errors, context);
    for (const warning of loaded.warnings) stderr(`${warning}\n`);
    const update = flags['update'] === true;
    const read = await readFiles(operands, context, route.given, update ? 'left-out' : 'read');
    const json = flags['json'] === true;
    if (read.mistakes.length > 0) return reportMistakes(read, { json }, context);
    const other = read.byFile.find((one) => !isForGolden(one));
    if (other !== undefined)
      return usage(`${printable(other.file)} can have no golden file; ${allowed}`, context);
    if (loaded.config.upstream.url === undefined) return missingUpstream(context, 'golden');

    const run = await checkInputs(read.inputs, loaded.config, true, {}, context);
    if (context.signal.aborted) return exitCodes.engineUnreachable;
    if (run.silence !== undefined) return reportSilence(run.silence, loaded.config, context);
    const outcomes: Outcome[] = [];
    for (const one of read.byFile) {
      const { file, inputs } = one;
      const settled = settle(one, run);
      if ('text' in settled) {
        const problem = writeGolden(settled.golden, file, cwd, settled.text);
        if (problem !== undefined) return usage(problem, context);
      }
      outcomes.push({ file, golden: settled.golden, state: settled.state, requests: inputs.length });
    }
    if (json) stdout(`${JSON.stringify({ files: outcomes, results: run.results }, null, 2)}\n`);
    else print(outcomes, read, run, context);
    return exitCodeOf(outcomes);
  },
};

const allowed =
  'allowed: files of request bodies, without a reference of their own, that end in .json, .jsonl or .ndjson';

function isForGolden({ file, inputs, golden }: FileInputs): boolean {
  if (goldenNameOf(file) === undefined) return false;
  return inputs.every(
    ({ form, reference }) => form === 'request' && (reference === undefined || golden !== undefined),
  );
}

/** What is to become of a file's golden file; `text` where it is to be written. */
function settle(
  { file, inputs, golden: held }: FileInputs,
  { results, recorded }: CheckRun,
): { readonly golden: string; readonly state: State; readonly text?: string } {
  const golden = goldenNameOf(file) ?? '';
  const own = inputs.flatMap(({ source }) => results.find((result) => result.source === source) ?? []);
  if (own.some((result) => findings(result).some(({ severity }) => severity === 'error'))) {
    return { golden, state: 'wrong' };
  }
  const lines = inputs.flatMap(({ source, request }) => {
    const entry = recorded.find(({ exchange }) => exchange.id === source);
    const details = {
      request: requestDigest(request.body),
      writtenBy: `tokenweir ${packageVersion()}`,
      model: entry?.facts.modelName ?? '',
    };
    return (entry && goldenLine(entry.exchange, details)) ?? [];
  });
  if (lines.length < inputs.length) return { golden, state: 'not-known' };
  if (own.some((result) => findings(result).some(({ kind }) => kind === 'template-drift'))) {
    return { golden, state: 'differs' };
  }
  if (held !== undefined) return { golden, state: 'unchanged' };
  return { golden, state: 'written', text: formatGolden(lines) };
}

function findings(result: CheckResult): FindingRecord[] {
  return datedFindings(result).map(({ finding }) => finding);
}

function print(
  outcomes: readonly Outcome[],
  { byFile }: ReadFiles,
  { results }: CheckRun,
  { stdout, colors }: CommandContext,
): void {
  const paint = createPaint(colors === true);
  for (const { file, golden, state } of outcomes) {
    const inputs = byFile.find((one) => one.file === file)?.inputs ?? [];
    const shown = state === 'wrong' || state === 'differs' || state === 'not-known' ? inputs : [];
    for (const { source } of shown) {
      const result = results.find((one) => one.source === source);
      if (result !== undefined) stdout(reportResult(result, paint));
    }
    stdout(`${printable(golden)}: ${inWords[state]}\n`);
  }
}

function exitCodeOf(outcomes: readonly Outcome[]): ExitCode {
  const states = new Set(outcomes.map(({ state }) => state));
  if (states.has('wrong') || states.has('differs')) return exitCodes.findings;
  return states.has('not-known') ? exitCodes.engineUnreachable : exitCodes.clean;
}

function usage(message: string, { stderr }: CommandContext): ExitCode {
  stderr(`${message}\n`);
  return exitCodes.usage;
}
